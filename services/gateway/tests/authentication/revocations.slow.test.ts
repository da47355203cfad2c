// The revocations of a gateway, read page by page from the real identity service, a separate
// process with a real database.
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createContextSigner } from '@almanac/service-kit/caller/call-context';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { announce } from '@almanac/service-kit/messaging/outbox';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool, pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { type ClosableRpcClient, createRpcClient } from '@almanac/service-kit/rpc/client';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { startBus } from '@almanac/testkit/messaging/bus';
import { findFreePort } from '@almanac/testkit/network/ports';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import { endService, spawnService, untilReady } from '@almanac/testkit/processes/service-process';
import { createRevocations, type Revocations } from '../../src/authentication/revocations.ts';
import type { Token } from '../../src/authentication/token.ts';
import { givenIdentity as givenIdentityWithoutPages, givenServices } from '../fakes.ts';

type Identity = Pick<RpcClient<'identity'>, 'ListRevocations'>;

const logger = createLogger('gateway', 'silent');
const soon = () => new Date(Date.now() + 7_200_000).toISOString();

let keys: TestKeys;
let databases: TestDatabase[];
let child: ChildProcess;
let identity: ClosableRpcClient<'identity'>;
let pool: ReturnType<typeof createPool>;
let sql: Sql;
let bus: Bus;
let readers: Revocations[] = [];

beforeAll(async () => {
  keys = await createTestKeys();
  databases = await Promise.all([createTestDatabase('gateway_bus'), createTestDatabase('gateway_identity')]);
  const [busUrl, databaseUrl] = databases.map(({ url }) => url) as [string, string];
  const rpcPort = await findFreePort();
  child = spawnService('identity', {
    ...keys.env,
    ALMANAC_PUBLIC_URL: 'http://almanac.test:8080',
    ALMANAC_BUS_URL: busUrl,
    ALMANAC_LOG_LEVEL: 'silent',
    IDENTITY_DATABASE_URL: databaseUrl,
    IDENTITY_HTTP_PORT: '0',
    IDENTITY_RPC_PORT: String(rpcPort),
    IDENTITY_KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
    BILLING_RPC: '127.0.0.1:1',
  });
  await untilReady('identity', child);
  identity = await clientOf(`127.0.0.1:${rpcPort}`);
  pool = createPool({ url: databaseUrl, name: 'test', logger });
  sql = pgSql(pool);
  bus = await startBus(busUrl, 'gateway');
});
beforeEach(() => sql('truncate revocation restart identity'));
afterEach(async () => {
  for (const reader of readers) await reader.stop();
  readers = [];
});
afterAll(async () => {
  await bus?.stop();
  identity?.close();
  await pool?.end();
  if (child) await endService(child);
  await Promise.all((databases ?? []).map((database) => database.drop()));
});

async function clientOf(address: string): Promise<ClosableRpcClient<'identity'>> {
  return createRpcClient('identity', address, await createContextSigner('gateway', keys.privateKeys.gateway));
}

/**
 * Revokes the tokens `dead-1` to `dead-<count>`: one application can revoke so many in two hours.
 */
async function givenRevoked(count: number): Promise<void> {
  await sql(
    `insert into revocation (account_id, kind, subject, issued_before, expires_at, reason)
     select 1, 'token', 'dead-' || lpad(i::text, 36, '0'), now() + interval '2 hours', now() + interval '2 hours', 'revoked'
     from generate_series(1, $1::int) i`,
    [count],
  );
}
const dead = (i: number) => `dead-${String(i).padStart(36, '0')}`;

/** Counts requests, and runs `between` before the second one. */
function counting(client: Identity, between: () => Promise<void> = async () => {}): Identity & { requests: number } {
  const counted: Identity & { requests: number } = {
    requests: 0,
    ListRevocations: async (...request) => {
      if (counted.requests === 1) await between();
      counted.requests += 1;
      return client.ListRevocations(...request);
    },
  };
  return counted;
}

async function start(client: Identity, options: { pageSize?: number; bus?: Bus } = {}): Promise<Revocations> {
  const reader = createRevocations({ identity: client, bus, logger, ...options });
  readers.push(reader);
  await reader.start();
  return reader;
}

function isDead(reader: Revocations, id: string): boolean {
  const issuedAtMs = Date.now();
  const token: Token = {
    ...{ id, accountId: 1, clientId: 'client', granted: ['api'], scopes: ['api'] },
    ...{ issuedAtMs, expiresAtMs: issuedAtMs + 7_200_000 },
  };
  try {
    reader.require(token);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ kind: 'unauthenticated' });
    return true;
  }
}

const allDead = (reader: Revocations, count: number) =>
  Array.from({ length: count }, (_, i) => i + 1).filter((i) => !isDead(reader, dead(i)));

it('revocations are all read before the first call is admitted, even if one message can not hold them', async () => {
  const count = 160_000;
  await givenRevoked(count);
  const reader = await start(identity.client);
  await eventually(() => expect(reader.isReady()).toBe(true));
  expect(allDead(reader, count)).toEqual([]);
  expect(isDead(reader, dead(count + 1))).toBe(false);
});

it.each([
  [0, 1],
  [10, 1],
  [11, 2],
  [20, 2],
  [21, 3],
])('%i revocations are read in %i pages of ten', async (count, pages) => {
  await givenRevoked(count);
  const client = counting(identity.client);
  const reader = await start(client, { pageSize: 10 });
  expect([reader.isReady(), client.requests, allDead(reader, count)]).toEqual([true, pages, []]);
});

it('revocations that are deleted before the next page is read hide no others', async () => {
  await givenRevoked(25);
  const client = counting(identity.client, async () => {
    await sql('delete from revocation where id <= 10');
  });
  const reader = await start(client, { pageSize: 10 });
  expect([client.requests, allDead(reader, 25)]).toEqual([3, []]);
});

it('revocations that are made while pages are read are applied, at any position of the list', async () => {
  await givenRevoked(15);
  await sql('update revocation set id = id + 100');
  const late = { account_id: 1, kind: 'token', issued_before: soon(), expires_at: soon(), reason: 'revoked' };
  const client = counting(identity.client, () =>
    withTransaction(pool, async (tx) => {
      for (const [id, subject] of Object.entries({ 1: 'before', 200: 'behind' })) {
        await tx(
          `insert into revocation (id, account_id, kind, subject, issued_before, expires_at, reason)
           values ($1::bigint, 1, 'token', $2, $3::timestamptz, $3::timestamptz, 'revoked')`,
          [id, subject, late.expires_at],
        );
        await announce(tx, { type: 'identity.token.revoked', payload: { ...late, subject } });
      }
    }),
  );
  const reader = await start(client, { pageSize: 10 });
  await eventually(() => expect(['before', 'behind'].map((id) => isDead(reader, id))).toEqual([true, true]));
  expect([client.requests, allDead(reader, 15)]).toEqual([2, []]);
});

it('revocations that were missed while pages were read are read again', async () => {
  await givenRevoked(15);
  await sql('update revocation set id = id + 100');
  let connected = () => {};
  const reconnectingBus = {
    subscribe: async (...[, , options]: Parameters<Bus['subscribe']>) => {
      connected = () => options?.onConnected?.();
      connected();
    },
    isReady: () => true,
  } as Bus;
  const client = counting(identity.client, async () => {
    await sql(
      `insert into revocation (id, account_id, kind, subject, issued_before, expires_at, reason)
       values (1, 1, 'token', 'missed', now() + interval '2 hours', now() + interval '2 hours', 'revoked')`,
    );
    connected();
  });
  const reader = await start(client, { pageSize: 10, bus: reconnectingBus });
  await eventually(() => expect(isDead(reader, 'missed')).toBe(true));
  expect(allDead(reader, 15)).toEqual([]);
});

it('revocations arrive in one answer from an identity that has no pages', async () => {
  const services = await givenServices();
  const old = await givenIdentityWithoutPages(keys, services);
  const client = await clientOf(old.rpc);
  for (let i = 1; i <= 25; i += 1)
    old.revocations.push({
      kind: 'token',
      subject: dead(i),
      issued_before: soon(),
      expires_at: soon(),
      reason: 'revoked',
    });
  try {
    const counted = counting(client.client);
    const reader = await start(counted, { pageSize: 10 });
    expect([counted.requests, allDead(reader, 25)]).toEqual([1, []]);
  } finally {
    client.close();
    await Promise.all([old.close(), services.close()]);
  }
});
