// How the creator of a draft settles conflicts with what others have changed since: cell by cell,
// or for the row as a whole.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import type { Pools } from '../../postgres/pools.ts';
import { readRecord } from '../../records/record-input.ts';
import { readEntry } from '../../tables/catalogue.ts';
import { repeatWhileStale, stale, type TableAccess } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { getChangeRequest, lockChangeRequest, requirePhase } from '../change-requests.ts';
import { checkOperations, TableChanged } from '../check.ts';
import { refuseUnknownOperations, requireCreator } from '../visibility.ts';
import { resolveSql } from './store-sql.ts';

/** `mine`: what the operation proposes; `theirs`: what the row has now; or another value. */
type Choice = 'mine' | 'theirs' | { value?: unknown };

export type Resolution = {
  operation_id: number;
  /** Of an operation whose row as a whole conflicts; `theirs` takes the operation out. */
  row?: 'mine' | 'theirs' | undefined;
  columns?: Record<string, Choice> | undefined;
};

type Settled = { id: number; problems: Problem[] };

/**
 * Settles conflicts, all or none: the operations are based on the present rows then, for the
 * columns named. 404 names unknown operations, 422 columns that an operation doesn't change and
 * values that break a rule.
 */
export async function resolveConflicts(
  access: TableAccess & { pools: Pools },
  call: CallContext,
  id: number,
  resolutions: Resolution[],
): Promise<{ operations: Settled[] }> {
  await requireCreator(access, call, await getChangeRequest(access.pools, call.accountId, id));
  refuseUnclear(resolutions);
  const work = async () => {
    try {
      return await withTransaction(access.pools.rows, (sql) => resolve(sql, call, id, resolutions));
    } catch (error) {
      if (error instanceof TableChanged) return stale;
      throw error;
    }
  };
  return repeatWhileStale(work, async () => {});
}

function refuseUnclear(resolutions: Resolution[]): void {
  const seen = new Set<number>();
  const problems: Problem[] = [];
  for (const [place, { operation_id, row, columns }] of resolutions.entries()) {
    const field = `resolutions.${place}`;
    if (seen.has(operation_id))
      problems.push({ code: 'given_twice', message: `${field}: operation ${operation_id} is named before.`, field });
    if ((row === undefined) === (columns === undefined))
      problems.push({ code: 'incompatible', message: `${field} takes either row or columns.`, field });
    seen.add(operation_id);
  }
  if (problems.length > 0) throw new ServiceError('bad_request', problems);
}

type Found = { id: number; table_definition_id: number; kind: string; columns: string[] };

async function resolve(sql: Sql, call: CallContext, id: number, resolutions: Resolution[]) {
  const header = await lockChangeRequest(sql, call, id);
  requirePhase(header, 'draft');
  const ids = resolutions.map(({ operation_id }) => operation_id);
  const { rows } = await sql(
    `select id, table_definition_id, kind, array(select jsonb_object_keys(cells)) as columns from change_request_operation
     where account_id = $1::int and change_request_id = $2::int and id = any($3::bigint[]) for update`,
    [header.account_id, id, ids],
  );
  const found = new Map((rows as Found[]).map((row) => [row.id, row]));
  refuseUnknownOperations(ids, [...found.keys()]);
  const dropped = resolutions.filter(({ row }) => row === 'theirs').map(({ operation_id }) => operation_id);
  if (dropped.length > 0)
    await sql(
      'delete from change_request_operation where account_id = $1::int and change_request_id = $2::int and id = any($3::bigint[])',
      [header.account_id, id, dropped],
    );
  await sql(
    `update change_request set operation_count = operation_count - $3::int, changes = changes + 1
     where account_id = $1::int and id = $2::int`,
    [header.account_id, id, dropped.length],
  );
  const kept = resolutions.filter(({ row }) => row !== 'theirs');
  const byTable = Map.groupBy(kept, ({ operation_id }) => (found.get(operation_id) as Found).table_definition_id);
  for (const [definition, some] of byTable) {
    const table = await readEntry(sql, header.account_id, definition);
    if (!table)
      throw validationFailed({ code: 'wrong_state', message: 'The table of an operation is no longer deployed.' });
    const settled = some.map((each) => settledCells(table, found.get(each.operation_id) as Found, each));
    const statement = resolveSql(table, id, settled);
    const { rows: resolved } = await sql(statement.text, statement.values);
    if (resolved.length === 0) throw new TableChanged();
    await checkOperations(
      sql,
      header,
      table,
      some.map(({ operation_id }) => operation_id),
    );
  }
  const after = await sql(
    `select id, problems from change_request_operation where account_id = $1::int and change_request_id = $2::int
     and id = any($3::bigint[]) order by id`,
    [header.account_id, id, ids],
  );
  return { operations: after.rows as Settled[] };
}

function settledCells(table: DeployedTable, operation: Found, { operation_id, row, columns = {} }: Resolution) {
  const settled = { id: operation_id, whole: row === 'mine', mine: [] as string[], theirs: [] as string[], cells: {} };
  const byName = new Map(table.structure.columns.map((column) => [column.name, column]));
  const changes = new Set(operation.columns);
  const problems: Problem[] = [];
  const values: [string, unknown][] = [];
  for (const [name, choice] of Object.entries(columns)) {
    const key = String(byName.get(name)?.lineage_id);
    if (operation.kind !== 'update' || !changes.has(key)) {
      const message = `operation ${operation_id} does not change ${name.slice(0, 80)}`;
      problems.push({ code: 'unknown_property', message, column: name.slice(0, 80), params: { operation_id } });
    } else if (choice === 'mine') settled.mine.push(key);
    else if (choice === 'theirs') settled.theirs.push(key);
    else values.push([name, choice.value]);
  }
  if (values.length > 0) {
    const read = readRecord(table, Object.fromEntries(values), false);
    problems.push(...read.problems.map((problem) => ({ ...problem, params: { ...problem.params, operation_id } })));
    settled.cells = Object.fromEntries([...read.cells].map(([{ lineage_id }, cell]) => [lineage_id, cell]));
  }
  if (problems.length > 0) throw validationFailed(problems);
  return settled;
}
