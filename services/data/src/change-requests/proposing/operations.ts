// The operations of a change request: added and taken out by the one who made it, while it is a
// draft. What is wrong with an operation is kept with it and answered; it refuses nothing.
import { type CallContext, callerName } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import type { Pools } from '../../postgres/pools.ts';
import { findKeyed } from '../../records/batch/batch.ts';
import {
  type Operation,
  type OperationProblem,
  OperationProblems,
  type RowChange,
  readBatch,
  readUpserts,
} from '../../records/batch/batch-input.ts';
import type { WriteAccess } from '../../records/idempotency.ts';
import type { Statement } from '../../sql/statement.ts';
import type { TableAccess, TableRequest } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import {
  type ChangeRequest,
  getChangeRequest,
  type Kind,
  lockChangeRequest,
  requirePhase,
  touchRequest,
} from '../change-requests.ts';
import { checkOperations, TableChanged } from '../check.ts';
import { isOfValue } from '../check-sql.ts';
import { refuseUnknownOperations, requireCreator } from '../visibility.ts';
import { addedMessage, addToDraft, operationsText } from './draft.ts';
import { type NewOperation, sameRowsSql, storeSql } from './store-sql.ts';

/**
 * Adds operations on rows of one table, all or none. One on a row that the request changes already
 * replaces that one; a change of a change adds its cells. 404 and 403 as for a write, 422 in
 * another phase than draft; 400 when two name the same row.
 */
export async function addOperations(
  access: WriteAccess,
  call: CallContext,
  id: number,
  request: TableRequest,
  operations: Operation[],
): Promise<Answer> {
  return addToDraft(access, call, id, request, async (table) => {
    const upserts = readUpserts(table, operations);
    const values = new ValueProblems();
    const keyed = await findKeyed(access.pools, table, upserts);
    const { batch } = readBatch(table, operations, upserts, keyed, values);
    values.refuse();
    const changes = Object.entries(kinds).flatMap(([name, kind]) =>
      batch[name as keyof typeof kinds].map((change): Proposed => ({ ...change, kind })),
    );
    return { store: (sql) => store(sql, call, id, { table, changes, values }), answer: storedAnswer };
  });
}

type Proposed = RowChange & { kind: Kind };

const kinds = { created: 'create', updated: 'update', deleted: 'delete', restored: 'restore' } as const;

/** The problems of values, by the place of the operation. */
class ValueProblems {
  private readonly byPlace = new Map<number, Problem[]>();
  private readonly refused = new OperationProblems();

  add(...problems: OperationProblem[]): void {
    for (const problem of problems) {
      const { operation, ...kept } = problem;
      // What names no column of the table can't be kept with an operation.
      if (kept.column === undefined || kept.code === 'unknown_property' || kept.code === 'read_only')
        this.refused.add(problem);
      else this.byPlace.set(operation, [...this.of(operation), kept]);
    }
  }

  of(place: number): Problem[] {
    return this.byPlace.get(place) ?? [];
  }

  refuse(): void {
    if (!this.refused.isEmpty) throw validationFailed(this.refused.all);
  }
}

type Given = { table: DeployedTable; changes: Proposed[]; values: ValueProblems };
type Earlier = { id: number; svc_sk: string; kind: Kind; problems: Problem[] };

async function store(sql: Sql, call: CallContext, id: number, { table, changes, values }: Given) {
  const rows = changes.flatMap((change) => change.id ?? []);
  const query = async <T>({ text, values: bound }: Statement) => (await sql(text, bound)).rows as T[];
  const found = await query<Earlier>(sameRowsSql(table, id, rows));
  const earlier = new Map(found.map((each) => [each.svc_sk, each]));
  const operations = changes.map((change) => newOperation(change, values, earlier.get(change.id ?? '')));
  const place = { changeRequestId: id, actor: callerName(call) };
  const stored = await query<{ id: number; is_new: boolean }>(storeSql(table, operations, place));
  if (stored.length === 0) throw new TableChanged();
  return stored;
}

function newOperation(change: Proposed, values: ValueProblems, earlier: Earlier | undefined): NewOperation {
  const { place, kind, id, version, cells } = change;
  const merges = kind === 'update' && earlier?.kind === 'update';
  const given = new Set([...cells.keys(), ...change.broken].map(({ name }) => name));
  const kept = merges ? earlier.problems.filter((each) => isOfValue(each) && !given.has(each.column ?? '')) : [];
  return {
    place,
    kind,
    svc_sk: id,
    version,
    cells: Object.fromEntries([...cells].map(([{ lineage_id }, cell]) => [lineage_id, cell])),
    replaces: earlier?.id ?? null,
    merges,
    problems: [...kept, ...values.of(place)].slice(0, limits.problems),
  };
}

async function storedAnswer(sql: Sql, { account_id, id }: ChangeRequest, ids: number[]): Promise<Answer> {
  const { rows } = await sql(
    `select o.id, o.kind, o.problems from unnest($3::bigint[]) with ordinality g(id, place)
     join change_request_operation o on o.account_id = $1::int and o.change_request_id = $2::int and o.id = g.id order by g.place`,
    [account_id, id, ids],
  );
  const count = rows.filter(({ problems }) => (problems as Problem[]).length > 0).length;
  return { body: JSON.stringify({ operations: rows, message: addedMessage(rows.length, count) }) };
}

/** Takes operations out of a draft, all or none; 404 names the unknown ones. */
export async function removeOperations(
  access: TableAccess & { pools: Pools },
  call: CallContext,
  id: number,
  ids: number[],
): Promise<{ removed_count: number; message: string }> {
  await requireCreator(access, call, await getChangeRequest(access.pools, call.accountId, id));
  return withTransaction(access.pools.rows, async (sql) => {
    const header = await lockChangeRequest(sql, call, id);
    requirePhase(header, 'draft');
    const unique = [...new Set(ids)];
    const { rows } = await sql(
      `delete from change_request_operation where account_id = $1::int and change_request_id = $2::int
       and id = any($3::bigint[]) returning id`,
      [header.account_id, id, unique],
    );
    refuseUnknownOperations(
      unique,
      rows.map((row) => row.id as number),
    );
    await touchRequest(sql, header, -rows.length);
    await checkOperations(sql, header, undefined, []);
    const message = `${operationsText(rows.length)} removed`;
    return { removed_count: rows.length, message };
  });
}
