// Metadata over HTTP on a real database, with fakes of its neighbours at the RPC edge; and what its
// tests start from.

import type { Route } from '@almanac/service-kit/api/route';
import type { AuditEntry } from '@almanac/service-kit/messaging/audit';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool } from '@almanac/service-kit/postgres/database';
import { createCaller } from '@almanac/testkit/calls/call';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { refusalFault, refusalShape } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { waitLonger } from '@almanac/testkit/time-limits';
import type pg from 'pg';
import { z } from 'zod';
import { type MetadataConfig, readConfig } from '../src/config.ts';
import type { MetadataContext } from '../src/context.ts';
import { metadataRoutes } from '../src/http.ts';
import { createMetadata } from '../src/service.ts';
import { type Neighbours, startNeighbours } from './neighbours.ts';

export type Metadata = {
  keys: TestKeys;
  neighbours: Neighbours;
  context: MetadataContext;
  config: MetadataConfig;
  rpcAddress: string;
  baseUrl: string;
  pool: pg.Pool;
  /** Its entries for the audit log so far, in order. */
  acts: AuditEntry[];
  stop(): Promise<void>;
};

/**
 * Metadata with short leases, so that tests of crashes need not wait, but long enough that a busy
 * machine renews them. `data`: the service to use instead of the fake.
 */
export async function startMetadata(
  timing: Partial<MetadataConfig['timing']> = {},
  data?: { keys: TestKeys; address: string },
): Promise<Metadata> {
  const keys = data?.keys ?? (await createTestKeys());
  waitLonger();
  const [neighbours, database] = await Promise.all([startNeighbours(keys), createServiceDatabase('metadata')]);
  const read = readConfig({
    ...keys.env,
    METADATA_HTTP_PORT: '0',
    METADATA_RPC_PORT: '0',
    METADATA_DATABASE_URL: database.url,
    ALMANAC_BUS_URL: database.url,
    ALMANAC_LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    IDENTITY_RPC: neighbours.addresses.identity,
    DATA_RPC: data?.address ?? neighbours.addresses.data,
  });
  const config = { ...read, timing: { leaseMs: 2_000, reconcileEveryMs: 100, waitMs: 30_000, ...timing } };
  const service = await createMetadata(config);
  const { httpPort, rpcPort } = await service.start();
  const logger = createLogger('test', 'silent');
  const log = await startBus(database.url, 'log');
  const acts = await collectMessages(
    log,
    'log.acts',
    ['metadata.audit.requested'],
    ({ payload }) => payload as AuditEntry,
  );
  const pool = createPool({ url: database.url, name: 'test', max: 3, logger });
  return {
    keys,
    neighbours,
    context: service.context,
    config,
    rpcAddress: `127.0.0.1:${rpcPort}`,
    baseUrl: `http://127.0.0.1:${httpPort}`,
    pool,
    acts,
    stop: async () => {
      await service.stop();
      await log.stop();
      await pool.end();
      await neighbours.stop();
      await database.drop();
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
export type Answer = { status: number; body: any };
export type Api = {
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string): Promise<Answer['body']>;
  post(path: string, body?: unknown): Promise<Answer['body']>;
};

export type Who = {
  accountId: number;
  userId?: number;
  applicationId?: number;
  branching?: boolean;
  scopes?: string[];
};

/**
 * Calls as a user or application of an account; every answer is checked against the schema of its
 * route.
 */
export function callingAs(metadata: Metadata, who: Who): Api {
  const call = createCaller(metadata.baseUrl, metadata.keys, { scopes: ['api'], branching: true, ...who });
  const declared = metadataRoutes(metadata.context);
  const send: Api['send'] = async (method, path, body, headers) => {
    const { status, body: answer } = await call(method, `/api/v1${path}`, body, headers);
    const route = findRoute(declared, method, path);
    if (status < 300) expectDeclared(route, status, answer);
    else expectError(route, status, answer);
    return { status, body: answer };
  };
  const succeed = async (method: string, path: string, body?: unknown) => {
    const answer = await send(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return { send, get: (path) => succeed('GET', path), post: (path, body) => succeed('POST', path, body) };
}

function findRoute(declared: Route[], method: string, path: string): Route | undefined {
  const bare = path.split('?')[0] as string;
  const matches = (route: Route) =>
    route.method === method && new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(bare);
  return declared.find((each) => matches(each) && !each.path.includes('{')) ?? declared.find(matches);
}

function expectDeclared(route: Route | undefined, status: number, answer: unknown): void {
  expect(status).toBe(route?.status ?? 200);
  if (route?.response) expect(route.response.parse(answer)).toEqual(answer);
  else expect(answer).toBe('');
}

function expectError(route: Route | undefined, status: number, answer: unknown): void {
  const facts = status === 422 ? route?.refusal : {};
  const body = z.strictObject({ ...refusalShape, ...facts });
  expect(body.parse(answer)).toEqual(answer);
  expect(refusalFault(answer)).toBeUndefined();
  expect(JSON.stringify(answer)).not.toMatch(/prisma|select |insert |postgres|node_modules|\.ts:/i);
  expect(status).not.toBe(500);
}

let lastAccount = 1000;

export type Account = { id: number; api: Api; mainId: number; domainId: number };

/** A new account with `main` and one domain; `api` is an application with branching. */
export async function givenAccount(metadata: Metadata): Promise<Account> {
  const id = ++lastAccount;
  const api = callingAs(metadata, { accountId: id });
  const mainId = await openAccount(metadata, id);
  const domain = await api.post('/domains', { domain: { name: 'Geography', abbreviation: 'GEO' } });
  return { id, api, mainId, domainId: domain.id };
}

/** Opens an account as identity's event does. */
export async function openAccount(metadata: Metadata, accountId: number): Promise<number> {
  const { openMainBranch } = await import('../src/branches/branches.ts');
  return openMainBranch(metadata.context, { accountId });
}

let lastUser = 1;

type Grant = [action: string, resourceType: string, resourceId: number];

/** A user of an account with these permissions. */
export function givenUser(
  metadata: Metadata,
  accountId: number,
  grants: Grant[] = [],
  { license = 'developer', branching = true } = {},
): Api & { id: number } {
  const id = ++lastUser;
  metadata.neighbours.identity.users.set(id, {
    license_type: license,
    permissions: grants.map(([action, resource_type, resource_id]) => ({ action, resource_type, resource_id })),
  });
  return { id, ...callingAs(metadata, { accountId, userId: id, branching }) };
}

/** An administrator of an account. */
export const givenAdmin = (metadata: Metadata, accountId: number) =>
  givenUser(metadata, accountId, [['admin', 'account', accountId]]);

export const keyColumn = { name: 'code', data_type: 'string', length: 10, is_primary_key: true };

/** A drafted table with columns. */
export async function givenTable(
  { api, mainId, domainId }: Pick<Account, 'api' | 'mainId' | 'domainId'>,
  name: string,
  columns: Record<string, unknown>[] = [keyColumn],
): Promise<Answer['body']> {
  const table = await api.post('/table_definitions', {
    branch_id: mainId,
    table_definition: { name, domain_id: domainId },
  });
  for (const column_definition of columns)
    await api.post('/column_definitions', { table_definition_id: table.id, column_definition });
  return api.get(`/table_definitions/${table.id}`);
}

/** Waits until all events of metadata have left the outbox for the bus. */
export async function outboxEmpty(metadata: Metadata): Promise<void> {
  await eventually(async () => {
    const { rows } = await metadata.pool.query('select count(*)::int as waiting from outbox');
    expect(rows[0].waiting).toBe(0);
  });
}
