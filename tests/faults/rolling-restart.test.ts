// A new version is rolled out under everyday work: with two instances of each service, one is
// replaced after the other, and no call is refused, no write is lost and none is done twice.
// ROLLING=all does it three times.
import { givenAccount } from '@almanac/testkit/system/builders';
import { type Fleet, fleetServices, startFleet } from '@almanac/testkit/system/fleet';
import { systemHomeName } from '@almanac/testkit/system/system';
import { type EverydayWork, givenEverydayWork } from '../support/everyday-work.ts';

const rounds = process.env.ROLLING === 'all' ? [0, 1, 0, 1, 0, 1] : [0, 1];
/** Longer than balancers take to notice it, also on a busy machine. */
const drainSeconds = 5;

let fleet: Fleet;
let work: EverydayWork;

beforeAll(async () => {
  fleet = await startFleet({ drainSeconds });
  Object.assign(process.env, fleet.env);
  delete process.env[systemHomeName];
  work = await givenEverydayWork(await (await givenAccount({ plan: 'enterprise' })).person());
});
afterAll(() => fleet?.stop());

it.each(fleetServices.map((name) => [name]))('%s is replaced and no caller notices', async (name) => {
  const codes: (number | null)[] = [];
  const calls = await work.during(async () => {
    for (const place of rounds) codes.push(await fleet.replace(name, place));
  });
  expect(codes).toEqual(rounds.map(() => 0)); // each ended on SIGTERM, in time
  console.log(`${name}: ${calls} calls`);
});
