// What data's tests begin with: the service on a database of its own, called over HTTP as the
// gateway would and over gRPC as metadata and jobs would; identity is faked at the RPC edge.
import { type CallClaims, createContextSigner, createContextVerifier } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { createLogger, type DestinationStream } from '@almanac/service-kit/observability/logger';
import { createMetrics } from '@almanac/service-kit/observability/metrics';
import type { Permission } from '@almanac/service-kit/rights/rights';
import { type ClosableRpcClient, createRpcClient } from '@almanac/service-kit/rpc/client';
import type { RpcCaller, RpcClient, RpcHandlers } from '@almanac/service-kit/rpc/contract';
import { createRpcServer, type RpcServerOptions } from '@almanac/service-kit/rpc/server';
import { type Call, createCaller } from '@almanac/testkit/calls/call';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import type { TestDatabase } from '@almanac/testkit/postgres/postgres';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { waitLonger } from '@almanac/testkit/time-limits';
import pg from 'pg';
import { readConfig } from '../src/config.ts';
import type { DataContext } from '../src/context.ts';
import { createData } from '../src/service.ts';

type Client = ClosableRpcClient<'data'>;

export type Held = { license_type: string; permissions: Permission[] };

/** These rights alone, each as [action, type of the resource, its id]. */
export const holding = (...permissions: [action: string, resource_type: string, resource_id: number][]): Held => ({
  license_type: 'developer',
  permissions: permissions.map(
    ([action, resource_type, resource_id]) => ({ action, resource_type, resource_id }) as Permission,
  ),
});

export type DataNet = {
  context: DataContext;
  database: TestDatabase;
  baseUrl: string;
  rpcPort: number;
  keys: TestKeys;
  /** As a machine of account 1 by default. */
  call: Call;
  as: (claims: Partial<CallClaims>) => Call;
  metadata: RpcClient<'data'>;
  jobs: RpcClient<'data'>;
  operator: RpcClient<'data'>;
  /** Rights of users by id; null: the user was deleted. */
  rights: Map<number, Held | null>;
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  stop: () => Promise<void>;
};

type Options = { database?: TestDatabase; keys?: TestKeys; env?: Record<string, string>; log?: DestinationStream };

/**
 * Starts data on a new database, or once more on one that is there; `env` adds settings, `log`
 * takes its lines.
 */
export async function givenData(options: Options = {}): Promise<DataNet> {
  waitLonger();
  const keys = options.keys ?? (await createTestKeys());
  const database = options.database ?? (await createServiceDatabase('data'));
  const rights = new Map<number, Held | null>();
  const identity = await startIdentity(keys, rights);
  const config = readConfig({
    ...keys.env,
    DATA_HTTP_PORT: '0',
    DATA_RPC_PORT: '0',
    DATA_DATABASE_URL: database.url,
    ALMANAC_BUS_URL: database.url,
    IDENTITY_RPC: `127.0.0.1:${identity.port}`,
    ALMANAC_LOG_LEVEL: 'silent',
    ...options.env,
  });
  const service = await createData(config, options.log && { log: options.log });
  const { httpPort, rpcPort } = await service.start();
  const baseUrl = `http://127.0.0.1:${httpPort}`;
  const clients = await Promise.all(
    (['metadata', 'jobs', 'operator'] as const).map(async (issuer) =>
      createRpcClient('data', `127.0.0.1:${rpcPort}`, await createContextSigner(issuer, keys.privateKeys[issuer])),
    ),
  );
  const [metadata, jobs, operator] = clients as [Client, Client, Client];
  // One connection, so that a session is a session; another one when PostgreSQL has been started
  // again.
  const client = new pg.Pool({ connectionString: database.url, max: 1, idleTimeoutMillis: 0 });
  client.on('error', () => {});
  return {
    context: service.context,
    database,
    baseUrl,
    rpcPort: rpcPort as number,
    keys,
    rights,
    as: (claims) => createCaller(baseUrl, keys, claims),
    call: createCaller(baseUrl, keys),
    metadata: metadata.client,
    jobs: jobs.client,
    operator: operator.client,
    query: async (text, values) => (await client.query(text, values)).rows,
    stop: async () => {
      await client.end();
      for (const each of clients) each.close();
      await service.stop();
      await identity.stop();
      if (!options.database) await database.drop();
    },
  };
}

async function startIdentity(
  keys: TestKeys,
  rights: Map<number, Held | null>,
): Promise<{ port: number; stop: () => Promise<void> }> {
  const handlers: Partial<RpcHandlers<'identity'>> = {
    GetEffectivePermissions: async (_call, { user_id }) => {
      const held = rights.get(user_id);
      if (held === null) throw notFound('User');
      return { user_id, ...(held ?? { license_type: 'developer', permissions: [] }) };
    },
  };
  const unfaked = new Proxy(handlers, {
    get: (target, name) =>
      target[name as keyof typeof target] ??
      (async () => {
        throw new Error(`${String(name)} is not faked`);
      }),
  });
  const callers = new Proxy({}, { get: () => ['data'] });
  const server = createRpcServer({
    service: 'identity',
    host: '127.0.0.1',
    port: 0,
    handlers: unfaked as RpcHandlers<'identity'>,
    callers: callers as RpcServerOptions<'identity'>['callers'],
    verifyContext: createContextVerifier(keys.publicKeys),
    tls: undefined,
    logger: createLogger('identity', 'silent'),
    metrics: createMetrics(),
  });
  return { port: await server.start(), stop: () => server.stop() };
}

/** The caller of an RPC: account 1 as an application by default. */
export const caller: RpcCaller = { accountId: 1, applicationId: 9, scopes: ['api'], branching: true };

export type ColumnInput = {
  name: string;
  data_type?: string;
  length?: number;
  scale?: number;
  is_primary_key?: boolean;
  is_required?: boolean;
  foreign_key_table_id?: number;
  is_hierarchy?: boolean;
  valid_values?: string[];
  lineage_id?: number;
  description?: string;
};
export type TableInput = {
  id: number;
  columns: ColumnInput[];
  key?: string;
  name?: string;
  description?: string;
  branch_id?: number;
  domain_id?: number;
  lineage_id?: number;
  load_type?: string;
  version?: number;
  lookup_display_column_id?: number;
  rows_from_table_id?: number;
  rows_asked_by?: number;
  row_changes?: string;
  machine_imports?: boolean;
  row_policy_revision?: number;
};

/**
 * A wanted table as metadata sends it; lineages are made from the id and the columns' places unless
 * named.
 */
export function wanted(table: TableInput) {
  return {
    table_definition_id: table.id,
    lineage_id: table.lineage_id ?? table.id,
    uuid: `00000000-0000-4000-8000-${String(table.id).padStart(12, '0')}`,
    key: table.key ?? `table_${table.id}`,
    name: table.name ?? `Table ${table.id}`,
    description: table.description ?? '',
    branch_id: table.branch_id ?? 1,
    domain_id: table.domain_id ?? 1,
    load_type: table.load_type ?? 'manual',
    version: table.version ?? 1,
    lookup_display_column_id: table.lookup_display_column_id,
    rows_from_table_id: table.rows_from_table_id,
    rows_asked_by: table.rows_asked_by,
    row_changes: table.row_changes,
    machine_imports: table.machine_imports,
    row_policy_revision: table.row_policy_revision,
    columns: table.columns.map((column, i) => ({
      column_definition_id: table.id * 1000 + i,
      lineage_id: column.lineage_id ?? table.id * 1000 + i + 1,
      name: column.name,
      data_type: column.data_type ?? 'string',
      length: column.length,
      scale: column.scale,
      is_primary_key: column.is_primary_key ?? false,
      is_required: column.is_required ?? false,
      foreign_key_table_id: column.foreign_key_table_id,
      is_hierarchy: column.is_hierarchy ?? false,
      valid_values: column.valid_values ?? [],
      description: column.description ?? '',
    })),
  };
}

let deployments = 0;

/** Deploys tables on branch 1 of account 1 by default. */
export function deploy(
  net: DataNet,
  tables: TableInput[],
  options: { accountId?: number; branchId?: number; id?: string } = {},
) {
  deployments += 1;
  return net.metadata.ApplyDeployment(
    { ...caller, accountId: options.accountId ?? 1 },
    {
      deployment_id: options.id ?? `deployment-${process.pid}-${deployments}`,
      branch_id: options.branchId ?? tables[0]?.branch_id ?? 1,
      tables: tables.map(wanted),
    },
    { deadlineMs: 60_000 },
  );
}

let policies = 0;

/** Sets how rows of a table change, as metadata does when the policy of its branch has changed. */
export function setPolicy(
  net: Pick<DataNet, 'metadata'>,
  table: number,
  row_changes: 'direct' | 'request',
  options: { machine_imports?: boolean; accountId?: number; revision?: number } = {},
) {
  policies += 1;
  const { machine_imports = true, accountId = 1, revision = policies } = options;
  const policy = { table_definition_id: table, row_changes, machine_imports, revision };
  return net.metadata.SetRowPolicies({ ...caller, accountId }, { policies: [policy] }, { deadlineMs: 60_000 });
}

/** The failure of a promise, with its problems. */
export async function failureOf(promise: Promise<unknown>): Promise<{ kind: string; errors: string[] }> {
  try {
    await promise;
  } catch (error) {
    const { kind, errors } = error as { kind: string; errors: string[] };
    if (kind === undefined) throw error;
    return { kind, errors };
  }
  throw new Error('this should have failed');
}

/** Creates a row and answers it. */
export async function create(net: DataNet, table: number, record: Record<string, unknown>, call = net.call) {
  const answer = await call('POST', '/api/v1/table_data', { table_definition_id: table, record });
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.record;
}
