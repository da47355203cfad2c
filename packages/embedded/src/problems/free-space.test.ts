import { tmpdir } from 'node:os';
import { freeBytes, watchFreeSpace } from './free-space.ts';

const megabytes = (count: number) => count * 1024 * 1024;

it('an almost full disk is said once, and again when there is space', () => {
  const said: string[] = [];
  const watch = watchFreeSpace('/srv/almanac', (_name, message) => said.push(message));
  for (const free of [5_000, 199, 50, 0, 250]) watch(megabytes(free));
  expect(said).toEqual(['199 MB are left for /srv/almanac. Free some space: without it nothing can be written.']);
  watch(megabytes(300));
  expect(said.slice(1)).toEqual(['there is space for /srv/almanac again']);
  watch(megabytes(10));
  expect(said).toHaveLength(3);
});

it('the free bytes of a folder are read from its disk', async () => {
  expect(await freeBytes(tmpdir())).toBeGreaterThan(0);
});
