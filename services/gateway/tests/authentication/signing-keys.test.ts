// Identity's keys change while gateways run: tokens of the old key, of the new key, and of unknown
// keys.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { eventually } from '@almanac/testkit/eventually';
import { callWith } from '../given.ts';
import { announce, useNeighbours } from '../neighbours.ts';

const { identity, useGateway, connectBus } = useNeighbours();
const gateways = [useGateway(), useGateway()];
let bus: Bus;
beforeAll(async () => {
  bus = await connectBus('identity');
});

const statuses = (token: string) =>
  Promise.all(gateways.map(async (gateway) => (await callWith(gateway, token, 'GET', '/api/v1/branches')).status));
const announceRotation = () => announce(bus, 'identity.signing_key.rotated', { kid: 'new' });

it('an announced rotation is applied before the first token of the new key arrives', async () => {
  expect(await statuses(await identity.token())).toEqual([200, 200]);
  for (const _time of [1, 2, 3]) {
    const before = identity.keyFetches();
    await identity.rotate({ keep: true });
    await announceRotation();
    await eventually(() => expect(identity.keyFetches()).toBeGreaterThanOrEqual(before + 2));
    const token = await identity.token();
    expect(await statuses(token)).toEqual([200, 200]);
    expect(identity.keyFetches() - before).toBeLessThanOrEqual(4);
  }
});

it('tokens of an old key are valid until a gateway learns that the key was removed', async () => {
  const old = await identity.token();
  await identity.rotate({ keep: true });
  await announceRotation();
  const fresh = await identity.token();
  await eventually(async () => expect(await statuses(fresh)).toEqual([200, 200]));
  expect(await statuses(old)).toEqual([200, 200]);
  await identity.rotate();
  await announceRotation();
  await eventually(async () => expect(await statuses(old)).toEqual([401, 401]));
  expect(await statuses(await identity.token())).toEqual([200, 200]);
});

it('a flood of unknown keys causes few requests to identity, and does not delay a new key', async () => {
  const before = identity.keyFetches();
  const unknown = await Promise.all(Array.from({ length: 40 }, (_, i) => identity.token({}, { kid: `unknown-${i}` })));
  const flood = async () => {
    for (const token of unknown) expect(await statuses(token)).toEqual([401, 401]);
  };
  const flooding = Promise.all([flood(), flood()]);
  await identity.rotate({ keep: true });
  await announceRotation();
  const token = await identity.token();
  await eventually(async () => expect(await statuses(token)).toEqual([200, 200]));
  await flooding;
  expect(identity.keyFetches() - before).toBeLessThan(80); // for 160 calls: each gateway at most once a second, and for the announcement
});
