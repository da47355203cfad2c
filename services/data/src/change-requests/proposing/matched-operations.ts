// The same operation on all rows that a filter finds, added to a change request by one statement.
import { type CallContext, callerName } from '@almanac/service-kit/caller/call-context';
import { type Answer, answerOnce } from '@almanac/service-kit/caller/idempotency';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { findKept, type WriteAccess } from '../../records/idempotency.ts';
import { requireManual } from '../../records/preconditions.ts';
import { countWhereSql } from '../../records/sets/set-sql.ts';
import { mismatch, planSelection, readSet, type SelectionInput, withSelected } from '../../records/sets/where.ts';
import { stale, type TableRequest, withTable } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { requireRightOn } from '../../tables/table-rights.ts';
import { getChangeRequest, lockChangeRequest, requirePhase, touchRequest } from '../change-requests.ts';
import { checkOperations, TableChanged } from '../check.ts';
import { requireCreator } from '../visibility.ts';
import { addedMessage, requireRoom, requireSameBranch } from './operations.ts';
import { type MatchedOperation, storeMatchesSql } from './store-sql.ts';

/** `set`: the values that the rows get; they are deleted without it. */
type MatchedInput = SelectionInput & {
  operation: 'update' | 'delete';
  set?: Record<string, unknown> | undefined;
  expected_count: number;
};

/**
 * Proposes the same for all live rows of a selection, if they are as many as expected: else 422,
 * and nothing is added. Rows that have the values already get no operation. The rest is as in
 * `addOperations`, but values that break a rule are refused (422).
 */
export async function addMatchedOperations(
  access: WriteAccess,
  call: CallContext,
  id: number,
  request: TableRequest,
  input: MatchedInput,
): Promise<Answer> {
  const { pools } = access;
  const header = await getChangeRequest(pools, call.accountId, id);
  await requireCreator(access, call, header);
  return withTable(access, call, withSelected(request, input), 'view', async (table, targets) => {
    await requireRightOn(access, call, 'edit', table);
    const kept = await findKept(pools, call);
    if (kept) return kept;
    requireManual(table);
    requireSameBranch(header, table);
    const filter = planSelection(table, input, targets);
    const operation = { kind: input.operation, filter, cells: readCells(table, input), expected: input.expected_count };
    try {
      return await withTransaction(pools.rows, (sql) => {
        const make = () => store(sql, call, id, table, operation);
        return call.keyed ? answerOnce(sql, call.keyed, make) : make();
      });
    } catch (error) {
      if (error instanceof TableChanged) return stale;
      throw error;
    }
  });
}

function readCells(table: DeployedTable, { operation, set }: MatchedInput): MatchedOperation['cells'] {
  if (operation === 'delete' && set !== undefined)
    throw new ServiceError('bad_request', {
      code: 'incompatible',
      message: 'set is for the operation "update".',
      field: 'set',
    });
  if (operation === 'delete') return new Map();
  const { cells, problems } = readSet(table, set ?? {});
  if (problems.length > 0) throw validationFailed(problems);
  return cells;
}

async function store(
  sql: Sql,
  call: CallContext,
  id: number,
  table: DeployedTable,
  operation: MatchedOperation,
): Promise<Answer> {
  const header = await lockChangeRequest(sql, call, id);
  requirePhase(header, 'draft');
  const { text, values } = storeMatchesSql(table, operation, { changeRequestId: id, actor: callerName(call) });
  const { rows } = await sql(text, values);
  if (rows.length === 0) await requireExpected(sql, table, operation);
  const added = rows.filter(({ is_new }) => is_new).length;
  requireRoom(header, added);
  await touchRequest(sql, header, added);
  const ids = rows.map((row) => row.id as number);
  await checkOperations(sql, header, table, ids);
  const [counted] = (
    await sql(
      `select count(*)::int as count from change_request_operation
       where account_id = $1::int and change_request_id = $2::int and id = any($3::bigint[]) and has_problem`,
      [header.account_id, id, ids],
    )
  ).rows;
  const outcome = { matched: operation.expected, operation_count: ids.length, with_problems: counted?.count as number };
  return { body: JSON.stringify({ ...outcome, message: addedMessage(ids.length, outcome.with_problems) }) };
}

// Why nothing was stored: the rows are not as many as expected, the table has changed, or all rows
// have the values already.
async function requireExpected(sql: Sql, table: DeployedTable, { filter, expected }: MatchedOperation): Promise<void> {
  const { text, values } = countWhereSql(table, filter);
  const [row] = (await sql(text, values)).rows;
  if (!row) throw new TableChanged();
  const problems = mismatch(Number(row.matched), expected);
  if (problems.length > 0) throw validationFailed(problems);
}
