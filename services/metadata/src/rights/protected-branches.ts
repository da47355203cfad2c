// Guards deployed tables of protected branches: only administrators may remove or restore them.
// Plans without branching have no approvals, so there `develop` is enough.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { administersBranch, needsBranchAdministrator } from '@almanac/service-kit/rights/protected-branches';
import type { MetadataContext } from '../context.ts';
import type { Transaction } from '../transaction.ts';

type Reader = Pick<Transaction, 'branch' | 'deployed_table_definition'>;

/** Throws 403 when the branch is protected from the caller. Called first, and again under locks. */
export type Guard = (db: Reader) => Promise<void>;

/** Guards a branch. `act` completes "may …". */
export async function guardBranch(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  act: string,
): Promise<Guard> {
  if (!call.branching || (await administersBranch(ctx.rights, call, branchId))) return async () => {};
  const where = { id: branchId, account_id: call.accountId, is_protected: true };
  return async (db) => {
    if ((await db.branch.count({ where })) > 0) throw needsBranchAdministrator(call, act);
  };
}

/** Guards a table as long as it is deployed. */
export async function guardTable(
  ctx: MetadataContext,
  call: CallContext,
  table: { id: number; branch_id: number },
  act: string,
): Promise<Guard> {
  const guard = await guardBranch(ctx, call, table.branch_id, act);
  const where = { id: table.id, account_id: call.accountId };
  return async (db) => {
    if ((await db.deployed_table_definition.count({ where })) > 0) await guard(db);
  };
}
