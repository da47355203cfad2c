// How operations get into a draft, in whichever form they are given: open the request (404) and the
// table (404, 403), plan what is stored, and store it in one transaction.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Answer, answerOnce } from '@almanac/service-kit/caller/idempotency';
import { validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { findKept, type WriteAccess } from '../../records/idempotency.ts';
import { requireManual } from '../../records/preconditions.ts';
import { type LookupTargets, stale, type TableRequest, withTable } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { requireRightOn } from '../../tables/table-rights.ts';
import {
  type ChangeRequest,
  getChangeRequest,
  lockChangeRequest,
  requirePhase,
  touchRequest,
} from '../change-requests.ts';
import { checkOperations, TableChanged } from '../check.ts';
import { requireCreator } from '../visibility.ts';

/** A stored operation; `is_new`: it replaces none. */
type Stored = { id: number; is_new: boolean };

export type Addition = {
  /** Throws `TableChanged` when the table is not what its entry says. */
  store: (sql: Sql) => Promise<Stored[]>;
  answer: (sql: Sql, header: ChangeRequest, ids: number[]) => Promise<Answer>;
};

/**
 * Adds operations to a request of the caller. 404 and 403 as for a write, 422 in another phase than
 * draft, for a table on another branch, and when the request would have too many.
 */
export async function addToDraft(
  access: WriteAccess,
  call: CallContext,
  id: number,
  request: TableRequest,
  plan: (table: DeployedTable, targets: LookupTargets) => Addition | Promise<Addition>,
): Promise<Answer> {
  const { pools } = access;
  const header = await getChangeRequest(pools, call.accountId, id);
  await requireCreator(access, call, header);
  // The policy of a table refuses changes of its rows, and an operation is none.
  return withTable(access, call, request, 'view', async (table, targets) => {
    await requireRightOn(access, call, 'edit', table);
    const kept = await findKept(pools, call);
    if (kept) return kept;
    requireManual(table);
    requireSameBranch(header, table);
    const { store, answer } = await plan(table, targets);
    const add = async (sql: Sql) => {
      const locked = await lockChangeRequest(sql, call, id);
      requirePhase(locked, 'draft');
      return answer(sql, locked, await takeIn(sql, locked, table, await store(sql)));
    };
    try {
      return await withTransaction(pools.rows, (sql) =>
        call.keyed ? answerOnce(sql, call.keyed, () => add(sql)) : add(sql),
      );
    } catch (error) {
      if (error instanceof TableChanged) return stale;
      throw error;
    }
  });
}

/** Counts stored operations in with the request, and checks them; answers their ids. */
export async function takeIn(
  sql: Sql,
  header: ChangeRequest,
  table: DeployedTable,
  stored: Stored[],
): Promise<number[]> {
  const added = stored.filter(({ is_new }) => is_new).length;
  requireRoom(header, added);
  await touchRequest(sql, header, added);
  const ids = stored.map((operation) => operation.id);
  await checkOperations(sql, header, table, ids);
  return ids;
}

function requireRoom({ operation_count }: ChangeRequest, added: number): void {
  const maximum = limits.operationsPerChangeRequest;
  if (operation_count + added <= maximum) return;
  throw validationFailed({
    code: 'limit_reached',
    message: `A change request has at most ${maximum} operations; this one has ${operation_count}.`,
    field: 'operations',
    params: { maximum, count: operation_count },
  });
}

/** 422 for a table on another branch than the request. */
export function requireSameBranch({ branch_id }: Pick<ChangeRequest, 'branch_id'>, table: DeployedTable): void {
  if (table.branch_id === branch_id) return;
  throw validationFailed({
    code: 'incompatible',
    message: 'The table is on another branch than the change request.',
    field: 'table_definition_id',
    params: { branch_id },
  });
}

export const addedMessage = (added: number, withProblems: number): string =>
  `${operationsText(added)} added, ${withProblems} with problems`;

export const operationsText = (count: number): string => `${count} ${count === 1 ? 'operation' : 'operations'}`;
