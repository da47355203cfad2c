// Fakes of identity and data: real gRPC servers with the behaviour that the protos promise, in
// memory.
import type { ApplyDeploymentRequest__Output } from '@almanac/protos/generated/almanac/data/v1/ApplyDeploymentRequest.ts';
import type { TableDiff } from '@almanac/protos/generated/almanac/data/v1/TableDiff.ts';
import type { TableStatistics } from '@almanac/protos/generated/almanac/data/v1/TableStatistics.ts';
import type { WantedTable__Output } from '@almanac/protos/generated/almanac/data/v1/WantedTable.ts';
import { type CallContext, createContextVerifier } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createMetrics } from '@almanac/service-kit/observability/metrics';
import { loadServiceDefinition, type RpcHandlers, type RpcServiceName } from '@almanac/service-kit/rpc/contract';
import { createRpcServer, type RpcServer } from '@almanac/service-kit/rpc/server';
import type { TestKeys } from '@almanac/testkit/calls/keys';
import { FakeChangeRequests } from './fake-change-requests.ts';
import { type FakeMerges, mergeHandlers, noMerges } from './fake-merges.ts';

type Permission = { action: string; resource_type: string; resource_id: number };
type Group = { id: number; name: string; resource_type: string; resource_id: number; members: number[] };

/** The state of identity; tests write to it. */
export type FakeIdentity = {
  users: Map<number, { license_type: string; permissions: Permission[]; private_branch_ids?: number[] }>;
  groups: Group[];
  ensured: { resource_type: string; resource_id: number; name: string; creator_id?: number; accountId: number }[];
  asked: { permissions: number };
  /** The questions of GetPermissionSources, with the user who asks, and the next answer. */
  explained: object[];
  sources: { allowed: boolean; ignored_for: string[] };
  isAway: boolean;
};

type Deployed = WantedTable__Output & { accountId: number };

const rowPolicyOf = ({
  row_changes,
  machine_imports,
  row_policy_revision,
}: Pick<WantedTable__Output, 'row_changes' | 'machine_imports' | 'row_policy_revision'>) => ({
  row_changes,
  machine_imports,
  row_policy_revision,
});

/**
 * The state of data. `before` runs inside a call and may throw or wait, `after` runs when the call
 * has had its effect.
 */
export type FakeData = FakeMerges & {
  deployed: Map<number, Deployed>;
  /** Removed tables, which can be restored. */
  retired: Map<number, Deployed>;
  applied: Map<string, TableDiff[]>;
  blockers: Map<number, { message: string; rows: number }[]>;
  /** An earlier release, which plans tables to be removed as tables without columns. */
  isOld: boolean;
  applications: string[];
  droppedBranches: number[];
  changeRequests: FakeChangeRequests;
  /** By table, of those whose rows every caller may view. */
  statistics: Map<number, TableStatistics>;
  /** All calls, with their callers. */
  calls: { rpc: string; call: CallContext }[];
  before: Partial<Record<string, () => unknown>>;
  after: Partial<Record<string, () => unknown>>;
};

export type Neighbours = {
  identity: FakeIdentity;
  data: FakeData;
  addresses: { identity: string; data: string };
  stop(): Promise<void>;
};

export async function startNeighbours(keys: TestKeys): Promise<Neighbours> {
  const identity: FakeIdentity = {
    users: new Map(),
    groups: [],
    ensured: [],
    asked: { permissions: 0 },
    explained: [],
    sources: { allowed: true, ignored_for: [''] },
    isAway: false,
  };
  const data: FakeData = {
    deployed: new Map(),
    retired: new Map(),
    applied: new Map(),
    blockers: new Map(),
    isOld: false,
    applications: [],
    ...noMerges(),
    droppedBranches: [],
    changeRequests: new FakeChangeRequests(),
    statistics: new Map(),
    calls: [],
    before: {},
    after: {},
  };
  const servers = [
    serve('identity', identityHandlers(identity), keys),
    serve('data', recorded(data, dataHandlers(data)), keys),
  ];
  const [identityPort, dataPort] = await Promise.all(servers.map((server) => server.start()));
  return {
    identity,
    data,
    addresses: { identity: `127.0.0.1:${identityPort}`, data: `127.0.0.1:${dataPort}` },
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  };
}

/** A service with only these handlers. */
export function serve<N extends RpcServiceName>(
  service: N,
  own: Partial<RpcHandlers<N>>,
  keys: TestKeys,
  caller: 'metadata' | 'data' = 'metadata',
): RpcServer {
  const names = Object.keys(loadServiceDefinition(service));
  const refuse = () => Promise.reject(new Error(`${caller} is not expected to call this`));
  const all = Object.fromEntries(names.map((name) => [name, (own as Record<string, unknown>)[name] ?? refuse]));
  return createRpcServer({
    service,
    host: '127.0.0.1',
    port: 0,
    handlers: all as unknown as RpcHandlers<N>,
    callers: Object.fromEntries(names.map((name) => [name, [caller]])) as never,
    verifyContext: createContextVerifier(keys.publicKeys),
    tls: undefined,
    logger: createLogger(service, 'silent'),
    metrics: createMetrics(),
  });
}

function identityHandlers(state: FakeIdentity): Partial<RpcHandlers<'identity'>> {
  const person = (id: number) => ({ id, first_name: 'User', last_name: String(id), email: `user${id}@example.com` });
  return {
    GetEffectivePermissions: async (_call, { user_id }) => {
      state.asked.permissions += 1;
      const held = state.users.get(user_id);
      if (!held) throw notFound('User');
      return { user_id, ...held };
    },
    GetPermissionSources: async (call, { user_id, ...place }) => {
      const held = state.users.get(user_id);
      if (!held) throw notFound('User');
      state.explained.push({ userId: call.userId, user_id, ...place });
      const [action, resource_type] = [place.action, 'domain'];
      const group = { user_group_id: 5, user_group_name: 'Geographers', permission_id: 6 };
      const none = { users: [], total: 0 };
      return {
        allowed: state.sources.allowed,
        status: 'active',
        license_type: held.license_type,
        sources: state.sources.ignored_for.map((ignored_for) => ({
          ...{ ...group, action, resource_type, resource_id: place.domain_id },
          ignored_for,
        })),
        holders: { users: [person(user_id)], total: 1 },
        administrators: none,
      };
    },
    ListApprovers: async (_call, { branch_id }) => ({
      users: [...state.users]
        .filter(([, { permissions }]) =>
          permissions.some(
            ({ action, resource_type, resource_id }) =>
              action === 'approve' && resource_type === 'branch' && resource_id === branch_id,
          ),
        )
        .map(([id]) => person(id)),
    }),
    ListUsers: async (_call, { ids }) => ({ users: ids.filter((id) => state.users.has(id)).map(person) }),
    ListResourceGroups: async (_call, { resource_type, resource_ids }) => ({
      user_groups: state.groups
        .filter((group) => group.resource_type === resource_type && resource_ids.includes(group.resource_id))
        .map(({ members, ...group }) => ({ ...group, actions: ['develop'], members: members.map(person) })),
    }),
    EnsureResourceGroups: async (call, { resource_type, resource_id, name, creator_id }) => {
      if (state.isAway) throw new ServiceError('unavailable', 'identity is away');
      state.ensured.push({ resource_type, resource_id, name, creator_id, accountId: call.accountId });
      if (creator_id !== undefined)
        state.users.get(creator_id)?.permissions.push({ action: 'develop', resource_type, resource_id });
      return {};
    },
  };
}

type Handler = (call: CallContext, ...rest: unknown[]) => unknown;

function recorded(state: FakeData, handlers: Partial<RpcHandlers<'data'>>): Partial<RpcHandlers<'data'>> {
  const recording = ([rpc, handle]: [string, Handler]): [string, Handler] => [
    rpc,
    (call, ...rest) => {
      state.calls.push({ rpc, call });
      return handle(call, ...rest);
    },
  ];
  return Object.fromEntries(Object.entries(handlers as Record<string, Handler>).map(recording)) as never;
}

function dataHandlers(state: FakeData): Partial<RpcHandlers<'data'>> {
  const applying = new Map<string, Promise<{ diffs: TableDiff[] }>>();
  const apply = async (accountId: number, request: ApplyDeploymentRequest__Output) => {
    const id = `${accountId}/${request.deployment_id}`;
    await state.before.ApplyDeployment?.();
    const known = state.applied.get(id);
    if (known) return { diffs: known };
    const diffs = plan(state, accountId, request.tables);
    const blocked = diffs.flatMap(({ name, blockers = [] }) =>
      blockers.map(({ message }) => ({ code: 'blocked' as const, message: `${name}: ${message}` })),
    );
    if (blocked.length > 0) throw new ServiceError('wrong_state', blocked);
    for (const table of request.tables) {
      const { table_definition_id: tableId, is_removed: isRemoved } = table;
      const before = state.deployed.get(tableId);
      if (isRemoved && before) state.retired.set(tableId, before);
      if (isRemoved) state.deployed.delete(tableId);
      else state.deployed.set(tableId, { ...table, ...(before && rowPolicyOf(before)), accountId });
    }
    state.applied.set(id, diffs);
    state.applications.push(request.deployment_id);
    await state.after.ApplyDeployment?.();
    return { diffs };
  };
  return {
    ...state.changeRequests.handlers(state.deployed, (rpc, when) => state[when][rpc]?.()),
    PlanDeployment: async (call, request) => {
      await state.before.PlanDeployment?.();
      return { diffs: plan(state, call.accountId, request.tables) };
    },
    // A second call with the same id waits for the first, as under data's lock on the id.
    ApplyDeployment: async (call, request) => {
      const id = `${call.accountId}/${request.deployment_id}`;
      const turn = (applying.get(id) ?? Promise.resolve()).then(
        () => apply(call.accountId, request),
        () => apply(call.accountId, request),
      );
      applying.set(id, turn);
      return turn;
    },
    GetAppliedDeployment: async (call, { deployment_id }) => {
      await state.before.GetAppliedDeployment?.();
      const diffs = state.applied.get(`${call.accountId}/${deployment_id}`);
      return { applied: diffs !== undefined, plan: { diffs: diffs ?? [] } };
    },
    ...mergeHandlers(state),
    DropTable: async (call, { table_definition_id }) => {
      await state.before.DropTable?.();
      const others = [...state.deployed.values()].filter((table) => table.table_definition_id !== table_definition_id);
      if (others.some(({ columns }) => columns.some((column) => column.foreign_key_table_id === table_definition_id)))
        throw new ServiceError('wrong_state', { code: 'wrong_state', message: 'Other deployed tables refer to it.' });
      const table = state.deployed.get(table_definition_id);
      const mine = table?.accountId === call.accountId;
      if (mine) state.retired.set(table_definition_id, table);
      if (mine) state.deployed.delete(table_definition_id);
      await state.after.DropTable?.();
      return { dropped: mine };
    },
    RestoreTable: async (call, { table_definition_id, policy }) => {
      await state.before.RestoreTable?.();
      const table = state.retired.get(table_definition_id);
      if (table?.accountId === call.accountId) {
        state.retired.delete(table_definition_id);
        state.deployed.set(table_definition_id, {
          ...table,
          ...(policy && rowPolicyOf({ ...policy, row_policy_revision: policy.revision })),
        });
      }
      await state.after.RestoreTable?.();
      return { restored: state.deployed.get(table_definition_id)?.accountId === call.accountId };
    },
    SetRowPolicies: async (call, { policies }) => {
      await state.before.SetRowPolicies?.();
      let set = 0;
      for (const { table_definition_id, revision, ...policy } of policies) {
        const table = state.deployed.get(table_definition_id);
        if (table?.accountId !== call.accountId) continue;
        set += 1;
        if (revision > (table.row_policy_revision ?? 0))
          state.deployed.set(table_definition_id, {
            ...table,
            ...policy,
            table_definition_id,
            row_policy_revision: revision,
          });
      }
      await state.after.SetRowPolicies?.();
      return { set };
    },
    ListTableStatistics: async (_call, { table_definition_ids }) => ({
      tables: table_definition_ids.flatMap((id) => state.statistics.get(id) ?? []),
    }),
    DropBranch: async (call, { branch_id }) => {
      await state.before.DropBranch?.();
      state.droppedBranches.push(branch_id);
      const tables = [...state.deployed.values()].filter(
        (table) => table.branch_id === branch_id && table.accountId === call.accountId,
      );
      for (const { table_definition_id } of tables) state.deployed.delete(table_definition_id);
      return { dropped: tables.length };
    },
  };
}

function plan(state: FakeData, accountId: number, tables: WantedTable__Output[]): TableDiff[] {
  const named = new Map(tables.map((table) => [table.table_definition_id, table]));
  const present = (id: number) =>
    named.has(id) ? !named.get(id)?.is_removed : state.deployed.get(id)?.accountId === accountId;
  return tables.map((table) => {
    const before = state.deployed.get(table.table_definition_id);
    if (table.is_removed && !state.isOld) return removalDiff(state, named, table);
    const missing = table.columns.filter(({ foreign_key_table_id: id }) => id !== undefined && id > 0 && !present(id));
    const renamed = before && before.name !== table.name;
    return {
      table_definition_id: table.table_definition_id,
      key: table.key,
      name: table.name,
      change: !before ? 'new' : before.version === table.version ? 'unchanged' : 'modified',
      attributes: renamed ? [{ name: 'name', from: JSON.stringify(before.name), to: JSON.stringify(table.name) }] : [],
      columns: table.columns.map(({ name }) => ({ name, change: before ? 'unchanged' : 'new', attributes: [] })),
      statements: before ? [] : [`create table "t_${table.lineage_id}" ()`],
      warnings: [],
      blockers: [
        ...(table.is_removed ? [{ message: 'The table has no columns.', rows: 0 }] : []),
        ...missing.map(({ name }) => ({ message: `${name} refers to a table that is not deployed`, rows: 0 })),
        ...(state.blockers.get(table.table_definition_id) ?? []),
      ],
    };
  });
}

function removalDiff(
  { deployed, blockers }: FakeData,
  named: ReadonlyMap<number, WantedTable__Output>,
  { table_definition_id: id, branch_id, key, name }: WantedTable__Output,
): TableDiff {
  const after = [...deployed.values()].map((table) => named.get(table.table_definition_id) ?? table);
  const referring = after.filter(
    (table) => table.branch_id === branch_id && table.columns.some((column) => column.foreign_key_table_id === id),
  );
  return {
    table_definition_id: id,
    key,
    name,
    change: 'deleted',
    attributes: [],
    columns: (deployed.get(id)?.columns ?? []).map((column) => ({ name: column.name, change: 'deleted' })),
    statements: [],
    warnings: [{ message: 'The table is taken out of service with its rows.', rows: 3 }],
    blockers: [
      ...referring.map((table) => ({ message: `${table.name} refers to this table.`, rows: 0 })),
      ...(blockers.get(id) ?? []),
    ],
  };
}
