// Changes or deletes every row that a filter finds: open the table (404, 403), read the filter
// (400) and the values (422), run one statement, and answer with its counts.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import { namesLabels, planFilter, type Targets } from '../../pages/grid-plan.ts';
import { type Pools, run } from '../../postgres/pools.ts';
import { originOf } from '../../rows/origin.ts';
import { stale, type TableRequest, withTable } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { findKept } from '../idempotency.ts';
import { requireManual } from '../preconditions.ts';
import { type RecordInput, readRecord } from '../record-input.ts';
import {
  countedRows,
  countWhereSql,
  decidingColumns,
  type Selection,
  type SetDone,
  whereOutcomeSql,
  writeWhereSql,
} from './set-sql.ts';
import { inTurn, rehearseSet, type SetAccess, type SetWrite, writeSet } from './set-write.ts';

/** Which rows, and how many they must be. */
export type SelectionInput = {
  filterModel?: unknown;
  q?: string | undefined;
  all?: boolean | undefined;
  expected_count?: number | undefined;
};

/** `dry_run`: the write is only rehearsed. */
export type WhereInput = SelectionInput & { dry_run?: boolean | undefined };

/**
 * Gives all rows of the filter these values, if they are as many as expected: otherwise 422, and
 * nothing is changed. A rehearsal answers the counts and the problems.
 */
export function updateWhere(
  access: SetAccess,
  call: CallContext,
  request: TableRequest,
  input: WhereInput,
  set: Record<string, unknown>,
): Promise<Answer> {
  return writeWhere(access, call, request, input, (table) => readSet(table, set));
}

/** Soft-deletes all rows of the filter, the same way. */
export function deleteWhere(
  access: SetAccess,
  call: CallContext,
  request: TableRequest,
  input: WhereInput,
): Promise<Answer> {
  return writeWhere(access, call, request, input, () => undefined);
}

function writeWhere(
  access: SetAccess,
  call: CallContext,
  request: TableRequest,
  input: WhereInput,
  read: (table: DeployedTable) => Pick<RecordInput, 'cells' | 'problems'> | undefined,
): Promise<Answer> {
  return withTable(access, call, withSelected(request, input), 'edit', async (table, targets) => {
    const kept = await findKept(access.pools, call);
    if (kept) return kept;
    requireManual(table);
    requireCount(input);
    const filter = planSelection(table, input, targets);
    const given = read(table);
    const problems = given?.problems ?? [];
    const selection = { filter, cells: given?.cells };
    return inTurn(access, call, async () => {
      if (problems.length > 0 && input.dry_run) return countOnly(access.pools, table, selection, problems);
      if (problems.length > 0) throw validationFailed(problems);
      const write = planWrite(access.pools, table, selection, input, call);
      return input.dry_run ? rehearseSet(access, table, write) : writeSet(access, call, table, write);
    });
  });
}

// The number of rows is the caller's consent.
function requireCount({ expected_count, dry_run }: WhereInput): void {
  if (expected_count === undefined && !dry_run)
    throw new ServiceError('bad_request', {
      code: 'blank',
      message: 'expected_count is required, unless dry_run is true.',
      field: 'expected_count',
    });
}

/** The values that all rows get, and their problems; it is one when there are none. */
export function readSet(table: DeployedTable, set: Record<string, unknown>): Pick<RecordInput, 'cells' | 'problems'> {
  if (Object.keys(set).length > 0) return readRecord(table, set, false);
  return { cells: new Map(), problems: [{ code: 'blank', message: 'set names no column to change.', field: 'set' }] };
}

/** The request with what planning its selection takes. */
export const withSelected = (request: TableRequest, input: SelectionInput): TableRequest => ({
  ...request,
  includeTargets: namesLabels(input),
});

/**
 * The filter of a selection; 400 for none, since a filter that was left out by mistake must not
 * select the whole table.
 */
export function planSelection(table: DeployedTable, input: SelectionInput, targets?: Targets) {
  const { all = false } = input;
  const filter = planFilter(table, input, targets);
  const isEmpty = 'all' in filter && filter.all.length === 0;
  if (isEmpty && !all)
    throw new ServiceError('bad_request', {
      code: 'blank',
      message: 'filterModel and q have no condition; say `all: true` to select every row.',
      field: 'filterModel',
    });
  if (!isEmpty && all)
    throw new ServiceError('bad_request', {
      code: 'incompatible',
      message: 'Send a filterModel or q, or `all: true`, not both.',
      field: 'all',
    });
  return filter;
}

function planWrite(
  pools: Pools,
  table: DeployedTable,
  selection: Selection,
  { expected_count: expected }: WhereInput,
  call: CallContext,
): SetWrite<SetDone> {
  const isDone = ({ matched }: SetDone) => mismatch(matched, expected).length === 0;
  const done = selection.cells ? ('updated' as const) : ('deleted' as const);
  return {
    statement: writeWhereSql(table, selection, expected, originOf(call, 'api')),
    isDone,
    findRefusal: ({ matched }) => mismatch(matched, expected),
    outcome: whereOutcomeSql(table, selection),
    columns: decidingColumns(table),
    isChecked: true,
    done: ({ matched, changed }) => ({
      matched,
      [`${done}_count`]: changed,
      message: `${changed} ${changed === 1 ? 'record' : 'records'} ${done}`,
    }),
    rehearsed: async (row) => {
      if (row) return { matched: row.matched, would_change: isDone(row) ? row.changed : 0 };
      const matched = await countMatches(pools, table, selection);
      return matched === undefined ? undefined : { matched, would_change: 0 };
    },
  };
}

/** Why a write of so many rows is refused: they are too many, or not as many as expected. */
export function mismatch(matched: number, expected: number | undefined): Problem[] {
  if (matched === countedRows)
    return [
      {
        code: 'too_many',
        message: `More than ${limits.rowsPerSetWrite} records match; narrow the filter, or import a file.`,
        field: 'filterModel',
        params: { maximum: limits.rowsPerSetWrite },
      },
    ];
  if (expected === undefined || matched === expected) return [];
  return [
    {
      code: 'not_reviewed',
      message: `${matched} ${matched === 1 ? 'record matches' : 'records match'}, not ${expected}.`,
      field: 'expected_count',
      params: { count: matched },
    },
  ];
}

async function countMatches(pools: Pools, table: DeployedTable, { filter }: Selection): Promise<number | undefined> {
  const [row] = await run<{ matched: number }>(pools.rows, countWhereSql(table, filter));
  return row?.matched;
}

async function countOnly(
  pools: Pools,
  table: DeployedTable,
  selection: Selection,
  problems: Problem[],
): Promise<Answer | typeof stale> {
  const matched = await countMatches(pools, table, selection);
  if (matched === undefined) return stale;
  return { body: JSON.stringify({ matched, would_change: 0, problems }) };
}
