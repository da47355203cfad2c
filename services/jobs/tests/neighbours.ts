// The neighbours of jobs, faked at the RPC edge. The fake of data parses CSV itself, keeps rows by
// primary key and loads by id, and can be made unavailable, slow, or late.
import type { BulkReadRequest__Output } from '@almanac/protos/generated/almanac/data/v1/BulkReadRequest.ts';
import type { ListRejectedRowsRequest__Output } from '@almanac/protos/generated/almanac/data/v1/ListRejectedRowsRequest.ts';
import { type CallContext, createContextVerifier } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createMetrics } from '@almanac/service-kit/observability/metrics';
import type { Problem } from '@almanac/service-kit/problems';
import type { Permission } from '@almanac/service-kit/rights/rights';
import type { RpcHandlers, RpcServiceName } from '@almanac/service-kit/rpc/contract';
import { createRpcServer, type RpcServerOptions } from '@almanac/service-kit/rpc/server';
import type { TestKeys } from '@almanac/testkit/calls/keys';
import { type Column, count, type FakeTable, type Load, merge, type RejectedRow, readRecords } from './fake-loads.ts';

type Gate = { promise: Promise<void>; open: () => void };

const gate = (): Gate => {
  let open!: () => void;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
};

export class Neighbours {
  /** Ids of tables that people don't load. */
  readonly proposedOnly = new Set<number>();
  /** The change requests that were made of dry runs, in order; their ids count from 1. */
  readonly proposed: { load_id: string; branch_id: number; title: string; description?: string; from: CallContext }[] =
    [];
  /** Metadata refuses the next proposal with this error, or it loses its answer. */
  proposalError: ServiceError | undefined;
  proposalAnswersToLose = 0;
  /** Ids of branches that are protected. */
  readonly protectedBranches = new Set<number>();
  branches: { account_id: number; id: number }[] = [
    { account_id: 1, id: 1 },
    { account_id: 1, id: 2 },
    { account_id: 2, id: 3 },
  ];
  tables: FakeTable[] = [];
  permissions = new Map<number, { license_type: string; permissions: Permission[] }>();
  /** Every BulkLoad received, answered or not. */
  loads: Load[] = [];
  /** Loads that were merged, by id. */
  results = new Map<string, Record<string, unknown>>();
  /** Values that no column accepts, for rejections. */
  badValue = 'BAD';
  dataIsAway = false;
  /** Problems of column sources, by column. */
  sourceProblems = new Map<string, string>();
  /** What data answers of the changes of a table; undefined: they are too many. */
  changes: string | undefined;
  /** The requested changes, in order. */
  readonly changesListed: unknown[] = [];
  /** Data refuses loads and reads for this reason. */
  refusal: string | undefined;
  /** How many of the next loads merge and then lose their answer. */
  answersToLose = 0;
  /** Only counts bytes: for files too large to keep. */
  countOnly = false;
  /** Cuts the next reads short after their first bytes. */
  readsToCut = 0;
  /** Users with their accounts, for mails. */
  users: { id: number; account_id: number; first_name: string; last_name: string; email: string; status?: string }[] =
    [];
  administrators = new Set<number>();
  /** Runs when identity gets the request for a link, before the link is made. */
  onLink: () => void = () => {};
  /** Password links made, by user; users without a password yet. */
  links: { user_id: number; account_id: number; purpose: string }[] = [];
  needNoLink = new Set<number>();
  closedAccounts = new Set<number>();
  /** Date styles of accounts other than ISO. */
  dateStyles = new Map<number, string>();
  publicUrl = '';
  private held: Gate | undefined;
  running = 0;
  mostRunning = new Map<number, number>();

  /** Loads and reads wait from now on until `release`. */
  hold(): void {
    this.held = gate();
  }

  release(): void {
    this.held?.open();
    this.held = undefined;
  }

  addTable(table: Partial<FakeTable> & { key: string }): FakeTable {
    const made: FakeTable = {
      account_id: 1,
      table_definition_id: 10 + this.tables.length,
      branch_id: 1,
      domain_id: 5,
      columns: [
        { name: 'code', data_type: 'string', is_primary_key: true },
        { name: 'name', data_type: 'string', is_primary_key: false },
      ],
      rows: new Map(),
      ...table,
    };
    this.tables.push(made);
    return made;
  }

  find(call: CallContext, wanted: { table_definition_id?: number; table_definition_key?: string; branch_id?: number }) {
    const found = this.tables.find(
      (table) =>
        table.account_id === call.accountId &&
        (wanted.table_definition_id
          ? table.table_definition_id === wanted.table_definition_id
          : table.key === wanted.table_definition_key && table.branch_id === wanted.branch_id),
    );
    if (!found) throw new ServiceError('not_found', { code: 'not_found', message: 'The table is not deployed.' });
    return found;
  }

  private requireRight(): void {
    if (this.refusal !== undefined)
      throw new ServiceError('forbidden', { code: 'missing_right', message: this.refusal });
  }

  private requireData(): void {
    if (this.dataIsAway) throw new ServiceError('unavailable', 'data is away');
  }

  /** The range of instants for which data has history. */
  readonly asOfReach = { as_of_from: '2026-01-01T00:00:00.000Z', as_of_until: '2026-02-01T00:00:00.000Z' };
  /** The requested instants, in order. */
  readonly readsAsOf: string[] = [];
  readonly marksRead: string[] = [];

  readonly data = withRefusals<RpcHandlers<'data'>>({
    GetDeployedTable: async (call, request) => {
      this.requireData();
      const { rows: _rows, labels: _labels, columns, ...table } = this.find(call, request);
      if (request.to_load && this.proposedOnly.has(table.table_definition_id) && call.userId !== undefined)
        throw new ServiceError('validation_failed', { code: 'proposals_only', message: 'Changes are proposed.' });
      const deployed = { ...table, name: table.key, version: 1, load_type: 'manual' };
      return { ...deployed, columns: columns.map(deployedColumn), ...this.asOfReach };
    },
    ListChanges: async ({ accountId }, request) => {
      this.requireData();
      this.changesListed.push({ accountId, ...request });
      return this.changes === undefined ? {} : { changes: this.changes };
    },
    CheckColumnSources: async (_call, { sources = [] }) => {
      this.requireData();
      if (sources.length > limits.columnsPerTable)
        throw new ServiceError('bad_request', { code: 'invalid', message: 'Too many columns.' });
      return { problems: sources.flatMap(({ target_column }) => this.sourceProblems.get(target_column ?? '') ?? []) };
    },
    BulkLoad: (call, requests, signal) => this.bulkLoad(call, requests as AsyncIterable<never>, signal),
    CancelLoad: async (_call, { load_id }) => {
      this.requireData();
      const result = this.results.get(load_id) ?? { status: 'cancelled', rejections: [], errors: [] };
      this.results.set(load_id, result);
      return result;
    },
    ReadRejectedRows: (_call, { load_id }) => this.readRejected(load_id),
    ListRejectedRows: (_call, request) => this.listRejected(request),
    ReadLoadChanges: (_call, request) => this.readChanges(request),
    BulkRead: (call, request) => this.bulkRead(call, request),
    CheckBulkRead: async (call, { read }) => {
      const request = read as BulkReadRequest__Output;
      this.requireData();
      this.requireRight();
      this.find(call, request);
      this.criteriaChecked.push(request.criteria);
      if (this.badCriteria && request.criteria.includes(this.badCriteria.word))
        throw new ServiceError('validation_failed', this.badCriteria.problem);
      return {};
    },
  });

  /** The criteria of exports that were checked, and read, in order. */
  readonly criteriaChecked: string[] = [];
  readonly criteriaRead: string[] = [];
  /** Criteria with this word are refused. */
  badCriteria: { word: string; problem: Problem } | undefined;
  /** As an earlier release. */
  ignoresCriteria = false;

  /** The windows of changes of dry runs that were requested, in order. */
  readonly changesRead: unknown[] = [];

  private async *readChanges(request: { load_id?: string }) {
    this.changesRead.push(request);
    if (!this.results.has(request.load_id ?? ''))
      throw new ServiceError('not_found', { code: 'not_found', message: 'The load is not known.' });
    const rows = [{ kind: 'created', key: { code: 'DE' }, id: null, cells: { name: { from: null, to: 'Ä' } } }];
    const counts = { created: 1, updated: 0, deleted: 0 };
    for (const byte of Buffer.from(JSON.stringify({ rows, rowCount: 1, counts, truncated: false })))
      yield { chunk: Buffer.from([byte]) };
  }

  private async *readRejected(loadId: string) {
    const result = this.results.get(loadId) as
      | { rejections: { row: number; value: string; message: string }[] }
      | undefined;
    if (!result) throw new ServiceError('not_found', { code: 'not_found', message: 'The load is not known.' });
    yield { chunk: Buffer.from('row,value,message\n') };
    for (const { row, value, message } of result.rejections)
      yield { chunk: Buffer.from(`${row},${value},${message}\n`) };
  }

  private async *listRejected({ load_id = '', start_row, end_row, rows = [] }: ListRejectedRowsRequest__Output) {
    const result = this.results.get(load_id) as { rejectedRows: RejectedRow[] } | undefined;
    const load = this.loads.find((each) => each.load_id === load_id);
    if (!result || !load) throw new ServiceError('not_found', { code: 'not_found', message: 'The load is not known.' });
    const chosen = result.rejectedRows.filter(({ row }) => rows.length === 0 || rows.includes(row));
    const window = { rows: chosen.slice(start_row, end_row), rowCount: chosen.length };
    yield { chunk: Buffer.from(JSON.stringify({ columns: load.options.file_columns, ...window })) };
  }

  // biome-ignore lint/suspicious/noExplicitAny: the messages of the wire
  private async bulkLoad(call: CallContext, requests: AsyncIterable<any>, signal: AbortSignal) {
    this.requireData();
    this.requireRight();
    const iterator = requests[Symbol.asyncIterator]();
    const options = (await iterator.next()).value.options;
    const table = this.find(call, options);
    const load: Load = {
      load_id: options.load_id,
      account_id: call.accountId,
      key: table.key,
      columns: options.columns.map(({ target_column }: { target_column: string }) => target_column),
      options,
      bytes: 0,
      from: call,
    };
    this.loads.push(load);
    const earlier = this.results.get(options.load_id);
    if (earlier) return earlier;
    this.running += 1;
    this.mostRunning.set(call.accountId, Math.max(this.mostRunning.get(call.accountId) ?? 0, this.running));
    try {
      await this.held?.promise;
      const earlier = this.results.get(options.load_id);
      if (earlier) return earlier;
      const rest = { [Symbol.asyncIterator]: () => iterator };
      const counted = this.countOnly ? await count(rest, load) : undefined;
      const records = counted ? [] : await readRecords(rest, load, options);
      if (signal.aborted) throw new ServiceError('unavailable', 'The caller has left.');
      // The first to claim the load's id decides; nothing may interleave from here on.
      const cancelled = this.results.get(options.load_id);
      if (cancelled) return cancelled;
      const result = counted ?? merge(table, options, records, this.badValue);
      this.results.set(options.load_id, result);
      if (this.answersToLose > 0) {
        this.answersToLose -= 1;
        throw new ServiceError('unavailable', 'The answer was lost.');
      }
      return result;
    } finally {
      this.running -= 1;
    }
  }

  private async *bulkRead(
    call: CallContext,
    request: {
      table_definition_id?: number;
      pattern?: string;
      high_water_mark?: string;
      as_of?: string;
      criteria?: string;
    },
  ) {
    this.readsAsOf.push(request.as_of ?? '');
    this.marksRead.push(request.high_water_mark ?? '');
    this.criteriaRead.push(request.criteria ?? '');
    this.requireData();
    this.requireRight();
    const table = this.find(call, request);
    await this.held?.promise;
    const incremental = request.pattern === 'incremental';
    const labels = table.labels ?? [];
    const names = [...table.columns, ...labels].map(({ name }) => name);
    const has_criteria = request.criteria !== '' && !this.ignoresCriteria;
    yield { start: { columns: incremental ? ['svc_transaction_code', ...names] : names, labels, has_criteria } };
    let rows = 0;
    for (const row of table.rows.values()) {
      const cells = names.map((name) => cell(row[name] ?? ''));
      rows += 1;
      yield { chunk: Buffer.from(`${[...(incremental ? ['i'] : []), ...cells].join(',')}\n`) };
      if (this.readsToCut > 0) {
        this.readsToCut -= 1;
        return;
      }
    }
    yield { end: { rows, next_high_water_mark: '2026-01-02T03:04:05.678Z' } };
  }

  readonly metadata = withRefusals<RpcHandlers<'metadata'>>({
    GetBranch: async (call, { id }) => {
      const found = this.branches.find((branch) => branch.id === id && branch.account_id === call.accountId);
      if (!found) throw new ServiceError('not_found', { code: 'not_found', message: 'Branch not found' });
      return { id: found.id, name: 'main', is_default: true, is_protected: this.protectedBranches.has(found.id) };
    },
    GetTableDefinition: async (call, { id: plainId, handle, key: wantedKey, branch_id: branchId }) => {
      const wantedId = handle ? Number(handle) : (plainId ?? 0);
      const isWanted = (table: (typeof this.tables)[number]) =>
        wantedKey ? table.key === wantedKey && table.branch_id === branchId : table.table_definition_id === wantedId;
      const found = this.tables.find((table) => isWanted(table) && table.account_id === call.accountId);
      if (!found) throw new ServiceError('not_found', { code: 'not_found', message: 'Table definition not found' });
      const { table_definition_id: id, key, branch_id, domain_id, columns } = found;
      return { id, uuid: '', key, name: key, branch_id, domain_id, columns };
    },
    CreateChangeRequest: async (from, { load_id = '', branch_id = 0, title = '', description }) => {
      const error = this.proposalError;
      this.proposalError = undefined;
      if (error) throw error;
      let place = this.proposed.findIndex((each) => each.load_id === load_id);
      if (place < 0)
        place = this.proposed.push({ load_id, branch_id, title, ...(description && { description }), from }) - 1;
      if (this.proposalAnswersToLose > 0) {
        this.proposalAnswersToLose -= 1;
        throw new ServiceError('unavailable', 'The answer was lost.');
      }
      return { id: place + 1 };
    },
    ListTablePlaces: async (call, { ids }) => ({
      places: this.tables
        .filter((table) => table.account_id === call.accountId && ids.includes(table.table_definition_id))
        .map(({ table_definition_id, branch_id, domain_id }) => ({ table_definition_id, branch_id, domain_id })),
    }),
  });

  readonly identity = withRefusals<RpcHandlers<'identity'>>({
    GetEffectivePermissions: async (_call, { user_id }) =>
      this.permissions.get(user_id) ?? { license_type: 'developer', permissions: [] },
    GetAccount: async ({ accountId }) => ({
      id: accountId,
      name: `Account ${accountId}`,
      date_style: this.dateStyles.get(accountId) ?? 'ISO',
      status: this.closedAccounts.has(accountId) ? 'closed' : 'active',
    }),
    ListUsers: async ({ accountId }, { ids }) => ({
      users: this.users.filter(({ id, account_id }) => account_id === accountId && ids.includes(id)),
    }),
    ListAdministrators: async ({ accountId }) => {
      return {
        users: this.users.filter(({ id, account_id }) => account_id === accountId && this.administrators.has(id)),
      };
    },
    CreatePasswordLink: async ({ accountId }, { user_id, purpose }) => {
      this.onLink();
      if (this.needNoLink.has(user_id))
        throw new ServiceError('not_found', { code: 'not_found', message: 'User not found' });
      this.links.push({ user_id, account_id: accountId, purpose });
      const token = `secret-${this.links.length}`;
      return { url: `${this.publicUrl}/oauth/password?token=${token}`, expires_at: '2026-12-31T10:20:30.000Z' };
    },
  });
}

const deployedColumn = (column: Column, index: number) => ({
  ...column,
  column_definition_id: index + 1,
  is_required: false,
});
const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// Calls that are not faked are refused.
function withRefusals<Handlers extends object>(faked: Partial<Handlers>): Handlers {
  return new Proxy(faked as Handlers, {
    get: (handlers, name) =>
      handlers[name as keyof Handlers] ??
      (async () => {
        throw new ServiceError('internal', `${String(name)} is not faked`);
      }),
  });
}

/** Serves the fakes over gRPC; answers their addresses. */
export async function serveNeighbours(neighbours: Neighbours, keys: TestKeys) {
  const logger = createLogger('fake', 'silent');
  const verifyContext = createContextVerifier(keys.publicKeys);
  const serve = async <N extends RpcServiceName>(service: N, handlers: RpcHandlers<N>) => {
    const callers = new Proxy({}, { get: () => ['jobs'] }) as RpcServerOptions<N>['callers'];
    const options = {
      service,
      host: '127.0.0.1',
      port: 0,
      handlers,
      callers,
      verifyContext,
      tls: undefined,
      logger,
      metrics: createMetrics(),
    };
    const server = createRpcServer<N>(options);
    return { address: `127.0.0.1:${await server.start()}`, stop: () => server.stop() };
  };
  const [identity, metadata, data] = await Promise.all([
    serve('identity', neighbours.identity),
    serve('metadata', neighbours.metadata),
    serve('data', neighbours.data),
  ]);
  return {
    env: { IDENTITY_RPC: identity.address, METADATA_RPC: metadata.address, DATA_RPC: data.address },
    stop: () => Promise.all([identity.stop(), metadata.stop(), data.stop()]),
  };
}
