// The same operation on all rows that a filter finds, added to a change request by one statement.
import { type CallContext, callerName } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { WriteAccess } from '../../records/idempotency.ts';
import { countWhereSql } from '../../records/sets/set-sql.ts';
import { mismatch, planSelection, readSet, type SelectionInput, withSelected } from '../../records/sets/where.ts';
import type { TableRequest } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import type { ChangeRequest } from '../change-requests.ts';
import { TableChanged } from '../check.ts';
import { addedMessage, addToDraft } from './draft.ts';
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
  return addToDraft(access, call, id, withSelected(request, input), (table, targets) => {
    const filter = planSelection(table, input, targets);
    const operation = { kind: input.operation, filter, cells: readCells(table, input), expected: input.expected_count };
    return {
      store: (sql) => store(sql, call, id, table, operation),
      answer: (sql, header, ids) => answerOf(sql, header, ids, input.expected_count),
    };
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

async function store(sql: Sql, call: CallContext, id: number, table: DeployedTable, operation: MatchedOperation) {
  const { text, values } = storeMatchesSql(table, operation, { changeRequestId: id, actor: callerName(call) });
  const stored = (await sql(text, values)).rows as { id: number; is_new: boolean }[];
  if (stored.length === 0) await requireExpected(sql, table, operation);
  return stored;
}

async function answerOf(sql: Sql, header: ChangeRequest, ids: number[], matched: number): Promise<Answer> {
  const { rows } = await sql(
    `select count(*)::int as with_problems from change_request_operation
     where account_id = $1::int and change_request_id = $2::int and id = any($3::bigint[]) and has_problem`,
    [header.account_id, header.id, ids],
  );
  const with_problems = rows[0]?.with_problems as number;
  const message = addedMessage(ids.length, with_problems);
  return { body: JSON.stringify({ matched, operation_count: ids.length, with_problems, message }) };
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
