// Identity's keys change while gateways run: what the old one signed, what the new one signs, and floods of neither.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { eventually } from '@almanac/testkit/eventually';
import { callWith } from './given.ts';
import { announce, useNeighbours } from './neighbours.ts';

const { identity, useGateway, connectBus } = useNeighbours();
const gateways = [useGateway(), useGateway()];
let bus: Bus;
beforeAll(async () => {
  bus = await connectBus('identity');
});

const statuses = (token: string) =>
  Promise.all(gateways.map(async (gateway) => (await callWith(gateway, token, 'GET', '/api/v1/branches')).status));
const announceRotation = () => announce(bus, 'identity.signing_key.rotated', { kid: 'new' });

it('a rotation that is announced is known before the first token of the new key comes', async () => {
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

it('tokens of an old key hold as long as it is published, and not a call longer than that is known', async () => {
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

it('a flood of unknown keys does not ask identity each time, and does not keep a new key from being known', async () => {
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
  expect(identity.keyFetches() - before).toBeLessThan(80); // of 160 calls: each gateway at most once a second, and the news
});
