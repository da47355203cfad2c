// The revocations a gateway knows, read page by page from the real identity service, a process of its own with a real database.
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Bus } from '@almanac/service-kit/bus/bus';
import { createContextSigner } from '@almanac/service-kit/call-context';
import { createPool, pgSql, type Sql, withTransaction } from '@almanac/service-kit/database';
import { createLogger } from '@almanac/service-kit/logger';
import { announce } from '@almanac/service-kit/outbox';
import { type ClosableRpcClient, createRpcClient } from '@almanac/service-kit/rpc-client';
import type { RpcClient } from '@almanac/service-kit/rpc-contract';
import { startBus } from '@almanac/testkit/bus';
import { eventually } from '@almanac/testkit/eventually';
import { createTestKeys, type TestKeys } from '@almanac/testkit/keys';
import { findFreePort } from '@almanac/testkit/ports';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres';
import { endService, spawnService, untilReady } from '@almanac/testkit/service-process';
import { createRevocations, type Revocations } from '../../src/tokens/revocations.ts';
import type { Token } from '../../src/tokens/token.ts';
import { givenIdentity as givenOldIdentity, givenServices } from '../given.ts';

type Asked = Pick<RpcClient<'identity'>, 'ListRevocations'>;

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

/** Tokens `dead-1` to `dead-<count>` are revoked: what an application can do by itself in their two hours. */
async function givenRevoked(count: number): Promise<void> {
  await sql(
    `insert into revocation (account_id, kind, subject, issued_before, expires_at, reason)
     select 1, 'token', 'dead-' || lpad(i::text, 36, '0'), now() + interval '2 hours', now() + interval '2 hours', 'revoked'
     from generate_series(1, $1::int) i`,
    [count],
  );
}
const dead = (i: number) => `dead-${String(i).padStart(36, '0')}`;

/** Counts what is asked, and does something before the next page is asked for. */
function watched(client: Asked, between: () => Promise<void> = async () => {}): Asked & { asked: number } {
  const counted: Asked & { asked: number } = {
    asked: 0,
    ListRevocations: async (...request) => {
      if (counted.asked === 1) await between();
      counted.asked += 1;
      return client.ListRevocations(...request);
    },
  };
  return counted;
}

async function start(client: Asked, options: { pageSize?: number; bus?: Bus } = {}): Promise<Revocations> {
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

it('are all known before anybody is let in, also more of them than one message can hold', async () => {
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
])('%i of them are %i pages of ten', async (count, pages) => {
  await givenRevoked(count);
  const client = watched(identity.client);
  const reader = await start(client, { pageSize: 10 });
  expect([reader.isReady(), client.asked, allDead(reader, count)]).toEqual([true, pages, []]);
});

it('that are gone when the next page is asked for make no other one missing', async () => {
  await givenRevoked(25);
  const client = watched(identity.client, async () => {
    await sql('delete from revocation where id <= 10');
  });
  const reader = await start(client, { pageSize: 10 });
  expect([client.asked, allDead(reader, 25)]).toEqual([3, []]);
});

it('that are made while pages are read are heard of, wherever in the list they stand', async () => {
  await givenRevoked(15);
  await sql('update revocation set id = id + 100');
  const late = { account_id: 1, kind: 'token', issued_before: soon(), expires_at: soon(), reason: 'revoked' };
  const client = watched(identity.client, () =>
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
  expect([client.asked, allDead(reader, 15)]).toEqual([2, []]);
});

it('that nobody could hear of while pages were read are asked for anew', async () => {
  await givenRevoked(15);
  await sql('update revocation set id = id + 100');
  let connected = () => {};
  const awayAndBack = {
    subscribe: async (...[, , options]: Parameters<Bus['subscribe']>) => {
      connected = () => options?.onConnected?.();
      connected();
    },
    isReady: () => true,
  } as Bus;
  const client = watched(identity.client, async () => {
    await sql(
      `insert into revocation (id, account_id, kind, subject, issued_before, expires_at, reason)
       values (1, 1, 'token', 'unheard', now() + interval '2 hours', now() + interval '2 hours', 'revoked')`,
    );
    connected();
  });
  const reader = await start(client, { pageSize: 10, bus: awayAndBack });
  await eventually(() => expect(isDead(reader, 'unheard')).toBe(true));
  expect(allDead(reader, 15)).toEqual([]);
});

it('come all at once from an identity that knows no pages', async () => {
  const services = await givenServices();
  const old = await givenOldIdentity(keys, services);
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
    const counted = watched(client.client);
    const reader = await start(counted, { pageSize: 10 });
    expect([counted.asked, allDead(reader, 25)]).toEqual([1, []]);
  } finally {
    client.close();
    await Promise.all([old.close(), services.close()]);
  }
});
