// Sets how rows of deployed tables change. A write states the revision of the entry it was made
// for, so a new revision turns away every write that a cached entry would let through; and the
// lock of the table waits for those that are under way. So no write that a policy refuses commits
// after the policy was set.
import type { RowPolicy__Output } from '@almanac/protos/generated/almanac/data/v1/RowPolicy.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { retryTransaction, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { isLockTimeout } from '@almanac/service-kit/postgres/errors';
import { requireResident } from '../clusters/account-placement.ts';
import { lockBranch } from '../postgres/advisory-locks.ts';
import type { Pools } from '../postgres/pools.ts';
import { tableName } from '../sql/identifiers.ts';
import { readRowChanges } from '../tables/row-policy.ts';
import type { DeployedTable } from '../tables/table.ts';

// A transaction locks so many tables at most: PostgreSQL bounds its locks, and the writers of the
// first tables wait for the last.
const tablesAtOnce = 50;
const attempts = 6;

/**
 * Sets the policies of the deployed tables among these, and answers how many those are. A table
 * that has a policy of a later revision keeps it. Repeating it changes nothing. A failure may leave
 * some of the tables under their new policies.
 */
export async function setRowPolicies(
  { pools, logger }: { pools: Pools; logger: Logger },
  call: CallContext,
  policies: RowPolicy__Output[],
): Promise<number> {
  for (const { row_changes } of policies) readRowChanges(row_changes);
  const sorted = policies.toSorted((a, b) => a.table_definition_id - b.table_definition_id);
  let set = 0;
  for (let from = 0; from < sorted.length; from += tablesAtOnce) {
    const some = sorted.slice(from, from + tablesAtOnce);
    set += await retryTransaction(() => withTransaction(pools.work, (sql) => setSome(sql, call, some)), {
      attempts,
      isRetryable: isLockTimeout,
      pauseMs: (failed) => 100 + Math.random() * 200 * failed,
      onRetry: (failed) => logger.info({ attempt: failed }, 'a table is in use; its policy is set again'),
    });
  }
  return set;
}

async function setSome(sql: Sql, { accountId }: CallContext, policies: RowPolicy__Output[]): Promise<number> {
  await sql("select set_config('lock_timeout', '2s', true), set_config('statement_timeout', '60s', true)");
  await requireResident(sql, { accountId });
  const ids = policies.map((policy) => policy.table_definition_id);
  // Tables come and go under the lock of their branch.
  const { rows: branches } = await sql(
    `select distinct branch_id as id from deployed_table
     where account_id = $1::int and table_definition_id = any($2::int[]) order by branch_id`,
    [accountId, ids],
  );
  for (const { id } of branches) await lockBranch(sql, id);
  const given = JSON.stringify(policies);
  const { rows } = await sql(
    `select d.branch_id, d.lineage_id, ${differsSql} as differs from ${givenSql} order by d.lineage_id, d.branch_id`,
    [accountId, given],
  );
  const changed = rows.filter(({ differs }) => differs) as Pick<DeployedTable, 'branch_id' | 'lineage_id'>[];
  if (changed.length > 0) await sql(`lock table ${changed.map(tableName).join(', ')} in share row exclusive mode`);
  await sql(
    `update deployed_table t set row_policy_revision = s.given_revision, row_changes = s.row_changes,
       machine_imports = s.machine_imports, revision = case when s.differs then nextval('deployed_revision') else t.revision end
     from (select d.table_definition_id, p.revision as given_revision, p.row_changes, p.machine_imports, ${differsSql} as differs
       from ${givenSql} where p.revision > d.row_policy_revision) s
     where t.table_definition_id = s.table_definition_id`,
    [accountId, given],
  );
  return rows.length;
}

const givenSql = `jsonb_to_recordset($2::jsonb) as p (table_definition_id int, row_changes text, machine_imports boolean, revision bigint)
  join deployed_table d on d.table_definition_id = p.table_definition_id and d.account_id = $1::int`;

const differsSql =
  '(p.revision > d.row_policy_revision and (p.row_changes, p.machine_imports) is distinct from (d.row_changes, d.machine_imports))';
