// Files may take long to come, through the API and over pre-signed addresses alike, as long as they move.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestKeys } from '@almanac/testkit/keys';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres';
import {
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

beforeAll(async () => {
  const [keys, made, fakes] = await Promise.all([createTestKeys(), createTestDatabase('gateway'), givenServices()]);
  [database, services] = [made, fakes];
  [identity, billing] = await Promise.all([givenIdentity(keys, services), givenBilling(keys)]);
  const timeouts = { headersMs: 4_000, clientMs: 4_000, readMs: 4_000, writeMs: 4_000, sweepMs: 50 };
  const options = { keys, busUrl: database.url, identity, billingRpc: billing.rpc, services: services.url };
  gateway = await givenGateway({ ...options, config: { timeouts } });
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([identity?.close(), billing?.close(), services?.close()]);
  await database?.drop();
});

/** Sends four times the client's time, and answers the status. */
async function sendSlowly(path: string, headers: Record<string, string>): Promise<number | undefined> {
  const pieces = 16;
  const piece = Buffer.alloc(2_048, 'x');
  const sending = request(`${gateway.url}${path}`, {
    method: 'PUT',
    headers: { ...headers, 'Content-Length': pieces * piece.length },
  });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sending.on('response', (answer) => resolve(answer.resume().statusCode));
    sending.on('error', reject);
  });
  answered.catch(() => {});
  for (let sent = 0; sent < pieces && !sending.destroyed; sent += 1) {
    sending.write(piece);
    await sleep(1_000);
  }
  sending.end();
  return answered;
}

it('a file that comes slowly gets through, over the API and over a pre-signed address', async () => {
  const authorization = `Bearer ${await identity.token()}`;
  const paths = ['/api/v1/imports/1/tables/1/file', '/files/accounts/1/imports/1-x?signature=x'];
  const statuses = await Promise.all(paths.map((path) => sendSlowly(path, { authorization })));
  expect(statuses).toEqual([200, 200]);
  expect(services.reached.map(({ body }) => body.length)).toEqual([32_768, 32_768]);
});
