// The policy under which a change request is approved: that of its branch and of its tables, the
// strictest of each.
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { Transaction } from '../../transaction.ts';

/** How many users approve, whether the creator may be one, and whether each has to say why. */
export type RequestPolicy = { required_approvals: number; self_approval: boolean; comment_required: boolean };

type Db = Pick<Transaction, '$queryRawUnsafe' | '$executeRawUnsafe'>;
type StoredPolicy = { [K in keyof RequestPolicy]?: RequestPolicy[K] | null };

const defaults: RequestPolicy = { required_approvals: 1, self_approval: false, comment_required: false };

/** The policy for a request on the branch that concerns these tables. */
export async function policyOf(
  db: Db,
  { accountId }: { accountId: number },
  branchId: number,
  tableIds: number[],
): Promise<RequestPolicy> {
  // As JSON, so that a policy is found whether or not these columns are there.
  const { rows } = await prismaSql(db)(
    `select to_jsonb(b) as branch,
       (select jsonb_agg(to_jsonb(t)) from table_definition t
        where t.account_id = $1::int and t.branch_id = b.id and t.id = any($3::int[])) as tables
     from branch b where b.account_id = $1::int and b.id = $2::int`,
    [accountId, branchId, tableIds],
  );
  const { branch, tables } = (rows[0] ?? {}) as { branch?: StoredPolicy; tables?: StoredPolicy[] | null };
  return strictest(branch ?? {}, tables ?? []);
}

/** The strictest policy of the tables; one that a table leaves open is the branch's. */
export function strictest(branch: StoredPolicy, tables: StoredPolicy[]): RequestPolicy {
  const whole: RequestPolicy = {
    required_approvals: branch.required_approvals ?? defaults.required_approvals,
    self_approval: branch.self_approval ?? defaults.self_approval,
    comment_required: branch.comment_required ?? defaults.comment_required,
  };
  if (tables.length === 0) return whole;
  return {
    required_approvals: Math.max(...tables.map((table) => table.required_approvals ?? whole.required_approvals)),
    self_approval: tables.every((table) => table.self_approval ?? whole.self_approval),
    comment_required: tables.some((table) => table.comment_required ?? whole.comment_required),
  };
}
