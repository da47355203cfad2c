// The policy under which a change request is approved: that of its branch and of its tables, the
// strictest of each.
import { effectiveRowPolicy, type OwnRowPolicy, type RowPolicy, rowPolicyFields } from '../../branches/row-policies.ts';
import type { Transaction } from '../../transaction.ts';

/** How many users approve, whether the creator may be one, and whether each has to say why. */
export type RequestPolicy = Pick<RowPolicy, 'required_approvals' | 'self_approval' | 'comment_required'>;

/** The policy for a request on the branch that concerns these tables. */
export async function policyOf(
  db: Pick<Transaction, 'branch' | 'table_definition'>,
  { accountId }: { accountId: number },
  branchId: number,
  tableIds: number[],
): Promise<RequestPolicy> {
  const account_id = accountId;
  const select = rowPolicyFields;
  const branch = await db.branch.findFirstOrThrow({ where: { id: branchId, account_id }, select });
  const where = { id: { in: tableIds }, branch_id: branchId, account_id };
  return strictest(branch, await db.table_definition.findMany({ where, select }));
}

/** The strictest policy of the tables; one that a table leaves open is the branch's. */
export function strictest(branch: RowPolicy, tables: Partial<OwnRowPolicy>[]): RequestPolicy {
  const policies = tables.length === 0 ? [branch] : tables.map((table) => effectiveRowPolicy(table, branch));
  return {
    required_approvals: Math.max(...policies.map((policy) => policy.required_approvals)),
    self_approval: policies.every((policy) => policy.self_approval),
    comment_required: policies.some((policy) => policy.comment_required),
  };
}
