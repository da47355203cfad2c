// The data service of a file of tests, for what several files of tests share.
import { type DataNet, givenData } from './given.ts';

/** It runs while the tests of a file do that has called `useData`. */
export let net: DataNet;

/** Starts the service before the tests of a file, and stops it after them. */
export function useData(prepare?: () => Promise<void>): void {
  beforeAll(async () => {
    net = await givenData();
    await prepare?.();
  });
  afterAll(() => net.stop());
}
