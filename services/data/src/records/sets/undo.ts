// Takes back what one request wrote in a table: a write like any other, under today's rules, that
// can be undone too.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { notFound } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { moreProblems, type Problem } from '@almanac/service-kit/problems';
import { type Pools, run } from '../../postgres/pools.ts';
import { originOf } from '../../rows/origin.ts';
import { type TableRequest, withTable } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { findKept } from '../idempotency.ts';
import { rowOf } from '../preconditions.ts';
import { countedRows } from './set-sql.ts';
import { inTurn, rehearseSet, type SetAccess, type SetWrite, writeSet } from './set-write.ts';
import { countOfRequestSql, type InTheWay, inTheWaySql, type UndoDone, undoOutcomeSql, undoSql } from './undo-sql.ts';

/** The request whose writes are taken back, and whether that is only rehearsed. */
export type UndoInput = { request_id: string; dry_run?: boolean | undefined };

/**
 * Undoes a request, all or nothing: 422 names the rows that have been changed since, and those that
 * would break a rule. 404 when the request wrote no row of this table. Rows of tables of the load
 * type `source` are taken back too: an import wrote them.
 */
export function undoRequest(
  access: SetAccess,
  call: CallContext,
  request: TableRequest,
  { request_id: requestId, dry_run }: UndoInput,
): Promise<Answer> {
  return withTable(access, call, request, 'edit', async (table) => {
    const kept = await findKept(access.pools, call);
    if (kept) return kept;
    const write = planUndo(access.pools, table, requestId, call);
    return inTurn(access, call, () =>
      dry_run ? rehearseSet(access, table, write) : writeSet(access, call, table, write),
    );
  });
}

function planUndo(pools: Pools, table: DeployedTable, requestId: string, call: CallContext): SetWrite<UndoDone> {
  const isDone = ({ matched, versions, refused }: UndoDone) => matched > 0 && versions < countedRows && refused === 0;
  return {
    statement: undoSql(table, requestId, originOf(call, 'undo')),
    isDone,
    findRefusal: async ({ matched, versions }) => {
      if (matched === 0) throw notFound('Request');
      return versions < countedRows ? findInTheWay(pools, table, requestId) : [tooMany];
    },
    outcome: undoOutcomeSql(table, requestId),
    columns: table.structure.columns,
    isChecked: false,
    done: ({ deleted, restored, changed }) => ({
      deleted_count: deleted,
      restored_count: restored,
      changed_count: changed,
      message: `${records(deleted)} deleted, ${records(restored)} restored, ${records(changed)} changed back`,
    }),
    rehearsed: async (row) => {
      if (row) {
        const { matched, deleted, restored, changed } = row;
        return { matched, would_delete: deleted, would_restore: restored, would_change: changed };
      }
      const [counted] = await run<{ matched: number }>(pools.rows, countOfRequestSql(table, requestId));
      return counted && { matched: counted.matched, would_delete: 0, would_restore: 0, would_change: 0 };
    },
  };
}

const records = (count: number) => `${count} ${count === 1 ? 'record' : 'records'}`;

const tooMany: Problem = {
  code: 'too_many',
  message: `The request wrote more than ${limits.rowsPerSetWrite} records; import their earlier values instead.`,
  field: 'request_id',
  params: { maximum: limits.rowsPerSetWrite },
};

async function findInTheWay(pools: Pools, table: DeployedTable, requestId: string): Promise<Problem[]> {
  const found = await run<InTheWay & { total: number }>(pools.rows, inTheWaySql(table, requestId, limits.problems));
  const problems = found.map(
    ({ id, version, is_changed }): Problem =>
      is_changed
        ? {
            code: 'version_conflict',
            message: `Record ${id} has been changed since by another request; it has version ${version}.`,
            ...rowOf(id),
            params: { version },
          }
        : {
            code: 'blocked',
            message: `Record ${id}: the version from before the request is not kept any more.`,
            ...rowOf(id),
          },
  );
  const total = found[0]?.total ?? 0;
  if (total > problems.length) problems.push(moreProblems(total - problems.length));
  return problems;
}
