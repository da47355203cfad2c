// Identity's keys change while gateways run: what the old one signed, what the new one signs, and floods of neither.
import type { Bus } from '@almanac/service-kit/bus/bus';
import { startBus } from '@almanac/testkit/bus';
import { eventually } from '@almanac/testkit/eventually';
import { createTestKeys, type TestKeys } from '@almanac/testkit/keys';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres';
import {
  callWith,
  type FakeBilling,
  type FakeIdentity,
  type FakeServices,
  givenBilling,
  givenGateway,
  givenIdentity,
  givenServices,
  type TestGateway,
} from './given.ts';

let keys: TestKeys;
let database: TestDatabase;
let identity: FakeIdentity;
let billing: FakeBilling;
let services: FakeServices;
let gateways: TestGateway[];
let bus: Bus;

beforeAll(async () => {
  [keys, database, services] = await Promise.all([createTestKeys(), createTestDatabase('gateway'), givenServices()]);
  [identity, billing] = await Promise.all([givenIdentity(keys, services), givenBilling(keys)]);
  const one = { keys, busUrl: database.url, identity, billingRpc: billing.rpc, services: services.url };
  gateways = await Promise.all([givenGateway(one), givenGateway(one)]);
  bus = await startBus(database.url, 'identity');
});
afterAll(async () => {
  await bus?.stop();
  await Promise.all((gateways ?? []).map((gateway) => gateway.stop()));
  await Promise.all([identity?.close(), billing?.close(), services?.close()]);
  await database?.drop();
});

const statuses = (token: string) =>
  Promise.all(gateways.map(async (gateway) => (await callWith(gateway, token, 'GET', '/api/v1/branches')).status));
const announce = () =>
  bus.publish([
    {
      v: 1,
      id: crypto.randomUUID(),
      type: 'identity.signing_key.rotated',
      occurred_at: new Date().toISOString(),
      payload: { kid: 'new' },
    },
  ]);

it('a rotation that is announced is known before the first token of the new key comes', async () => {
  expect(await statuses(await identity.token())).toEqual([200, 200]);
  for (const _time of [1, 2, 3]) {
    const before = identity.keyFetches();
    await identity.rotate({ keep: true });
    await announce();
    await eventually(() => expect(identity.keyFetches()).toBeGreaterThanOrEqual(before + 2));
    const token = await identity.token();
    expect(await statuses(token)).toEqual([200, 200]);
    expect(identity.keyFetches() - before).toBeLessThanOrEqual(4);
  }
});

it('tokens of an old key hold as long as it is published, and not a call longer than that is known', async () => {
  const old = await identity.token();
  await identity.rotate({ keep: true });
  await announce();
  const fresh = await identity.token();
  await eventually(async () => expect(await statuses(fresh)).toEqual([200, 200]));
  expect(await statuses(old)).toEqual([200, 200]);
  await identity.rotate();
  await announce();
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
  await announce();
  const token = await identity.token();
  await eventually(async () => expect(await statuses(token)).toEqual([200, 200]));
  await flooding;
  expect(identity.keyFetches() - before).toBeLessThan(80); // of 160 calls: each gateway at most once a second, and the news
});
