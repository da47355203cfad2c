// This code replaces the last release under everyday work: service by service in the order of
// docs/how-to/upgrade.md, one instance after the other. No call is refused, no write is lost and
// none is done twice.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { eventually } from '@almanac/testkit/eventually';
import { givenAccount } from '@almanac/testkit/system/builders';
import { type Fleet, type FleetService, fleetServices, startFleet } from '@almanac/testkit/system/fleet';
import { givenReleasedCode, type ReleasedCode } from '@almanac/testkit/system/released-code';
import { type EverydayWork, givenEverydayWork } from '../../support/everyday-work.ts';

/** Longer than balancers take to notice it, also on a busy machine. */
const drainSeconds = 5;

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/how-to/upgrade.md'), 'utf8');
const order = [...page.matchAll(/^ *almanac up .*--no-deps (.+)$/gm)].flatMap(
  ([, names]) => (names as string).split(' ') as FleetService[],
);

/** For checking the releases out of git, and starting a whole system. */
const startWithinMs = 600_000;

let code: ReleasedCode;
let fleet: Fleet;
let work: EverydayWork;

beforeAll(async () => {
  code = await givenReleasedCode();
  fleet = await startFleet({ drainSeconds, from: code.rootOf });
  Object.assign(process.env, fleet.env);
  // The first calls of a fleet may find a service that has no connection to another yet.
  await eventually(async () => {
    work = await givenEverydayWork(await (await givenAccount({ plan: 'enterprise' })).person());
  });
}, startWithinMs);
afterAll(() => fleet?.stop());

it('the page about upgrades names every service once', () => {
  expect(order.toSorted()).toEqual([...fleetServices, 'console'].toSorted());
});

// The console holds no state, and is no part of the fleet.
const inFleet = order.filter((name) => fleetServices.includes(name));

it.each(inFleet.map((name) => [name]))('%s is upgraded and no caller notices', async (name) => {
  const codes: (number | null)[] = [];
  const calls = await work.during(async () => {
    for (const place of [0, 1]) codes.push(await fleet.replace(name, place));
  });
  expect(codes).toEqual([0, 0]); // the old ones ended on SIGTERM, in time
  console.log(`${name}: ${calls} calls`);
});
