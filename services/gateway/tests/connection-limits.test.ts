import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@almanac/testkit/eventually';
import { createTestKeys } from '@almanac/testkit/keys';
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

let database: TestDatabase;
let identity: FakeIdentity;
let billing: FakeBilling;
let services: FakeServices;
let gateway: TestGateway;
let proxied: TestGateway;
let token: string;
const opened: Socket[] = [];

beforeAll(async () => {
  const keys = await createTestKeys();
  [database, services] = await Promise.all([createTestDatabase('gateway'), givenServices()]);
  [identity, billing] = await Promise.all([givenIdentity(keys, services), givenBilling(keys)]);
  const options = { keys, busUrl: database.url, identity, billingRpc: billing.rpc, services: services.url };
  const limits = { addressConnections: 20, connections: 30 };
  gateway = await givenGateway({ ...options, config: { limits } });
  proxied = await givenGateway({ ...options, config: { limits, trustedHops: 1 } });
  token = await identity.token();
});

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
});

afterAll(async () => {
  await Promise.all([gateway?.stop(), proxied?.stop()]);
  await Promise.all([identity?.close(), billing?.close(), services?.close()]);
  await database?.drop();
});

/** Connections that ask nothing, opened one after the other. */
async function givenIdle(to: TestGateway, count: number, localAddress = '127.0.0.1'): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let n = 0; n < count; n += 1) {
    const socket = connect({ port: to.port, host: '127.0.0.1', localAddress });
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.resume();
    sockets.push(socket);
  }
  opened.push(...sockets);
  return sockets;
}

const openOf = (sockets: Socket[]) => sockets.map((socket) => !socket.closed && !socket.readableEnded);

it('keeps so many connections of one address and closes those that have been idle longest', async () => {
  const sockets = await givenIdle(gateway, 50);
  await eventually(() => expect(openOf(sockets)).toEqual([...Array(30).fill(false), ...Array(20).fill(true)]));
  expect((await callWith(gateway, token, 'GET', '/api/v1/domains')).status).toBe(200);
});

it('never closes a connection whose request is under way', async () => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  services.answer(async (_req, res) => {
    await held;
    res.end('{}');
  });
  const call = callWith(gateway, token, 'GET', '/api/v1/domains');
  await eventually(() => expect(services.reached.length).toBeGreaterThan(0));
  const sockets = await givenIdle(gateway, 50);
  await eventually(() => expect(openOf(sockets).filter(Boolean)).toHaveLength(19));
  answer();
  expect((await call).status).toBe(200);
  services.answer(undefined);
});

it('keeps so many in total, and only these where the address is that of a proxy', async () => {
  const sockets = [...(await givenIdle(gateway, 20)), ...(await givenIdle(gateway, 20, '127.0.0.2'))];
  await eventually(() => expect(openOf(sockets).filter(Boolean)).toHaveLength(30));
  const behind = await givenIdle(proxied, 40);
  await eventually(() => expect(openOf(behind).filter(Boolean)).toHaveLength(30));
});
