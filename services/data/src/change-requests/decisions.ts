// Decisions on the operations of a request under review. Operations that refer to each other are
// decided together: what is accepted takes along what it needs, and what is not takes along what
// needs it.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { requireRight } from '@almanac/service-kit/rights/rights';
import type { Pools } from '../postgres/pools.ts';
import { Values } from '../sql/statement.ts';
import { readEntry } from '../tables/catalogue.ts';
import { repeatWhileStale, type TableAccess } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import {
  type ChangeRequest,
  type Decision,
  getChangeRequest,
  lockChangeRequest,
  requirePhase,
  touchRequest,
  unknownRequest,
} from './change-requests.ts';
import { type Wanted, wantedSql } from './show-sql.ts';
import { tiesSql } from './ties-sql.ts';
import { findChangedTables, refuseUnknownOperations } from './visibility.ts';

type Verb = 'accept' | 'reject' | 'return' | 'undecided';

const decisionOf = { accept: 'accepted', reject: 'rejected', return: 'returned', undecided: 'undecided' } as const;

/** What is decided about some operations: those of these ids, or all that match. */
export type Decided = {
  operation_ids?: number[] | undefined;
  filter?: (Wanted & { table_definition_id?: number | undefined }) | undefined;
  decision: Verb;
  comment?: string | null | undefined;
};

/** An operation that went along, and the one that took it along. */
type Also = { operation_id: number; because_of: number };

/** `also`: the first of them. */
type Outcome = { decided_count: number; also: Also[]; also_count: number; decisions: Record<Decision, number> };

/**
 * Decides operations, all or none, in the order of the list. Takes `approve` on the branch; 422 in
 * another phase than review; 404 names unknown operations. Whether creators may approve what they
 * propose is settled where the request is approved: no decision has an effect before.
 */
export async function decideOperations(
  access: TableAccess & { pools: Pools },
  call: CallContext,
  id: number,
  decisions: Decided[],
): Promise<Outcome> {
  const { pools, rights } = access;
  const header = await getChangeRequest(pools, call.accountId, id);
  await requireRight(rights, call, 'approve', { branchId: header.branch_id }, { missing: unknownRequest });
  refuseUnclear(decisions);
  const work = () => withTransaction(pools.rows, (sql) => decide(sql, call, id, decisions));
  return repeatWhileStale(work, async () => {});
}

function refuseUnclear(decisions: Decided[]): void {
  const problems = decisions.flatMap(({ operation_ids, filter }, place) =>
    (operation_ids === undefined) === (filter === undefined)
      ? [
          {
            code: 'incompatible' as const,
            message: `decisions.${place} takes either operation_ids or filter.`,
            field: `decisions.${place}`,
          },
        ]
      : [],
  );
  if (problems.length > 0) throw new ServiceError('bad_request', problems);
}

async function decide(sql: Sql, call: CallContext, id: number, decisions: Decided[]): Promise<Outcome> {
  const header = await lockChangeRequest(sql, call, id);
  requirePhase(header, 'review');
  const definitions = await findChangedTables(sql, header);
  const tables = await findTables(sql, header, definitions);
  const also: Also[] = [];
  let [decidedCount, alsoCount] = [0, 0];
  for (const decided of decisions) {
    const done = await decideSome(sql, call, header, tables, definitions, decided);
    decidedCount += done.decided_count;
    alsoCount += done.also_count;
    also.push(...done.also.slice(0, limits.gridRows - also.length));
  }
  await touchRequest(sql, header);
  return { decided_count: decidedCount, also, also_count: alsoCount, decisions: await countDecisions(sql, header) };
}

async function findTables(sql: Sql, header: ChangeRequest, definitions: number[]): Promise<DeployedTable[]> {
  const tables: DeployedTable[] = [];
  for (const definition of definitions) {
    const table = await readEntry(sql, header.account_id, definition);
    if (table) tables.push(table);
  }
  return tables;
}

type DoneSome = { decided_count: number; also: Also[]; also_count: number };

// One statement, whatever their number.
async function decideSome(
  sql: Sql,
  call: CallContext,
  header: ChangeRequest,
  tables: DeployedTable[],
  definitions: number[],
  { operation_ids, filter = {}, decision: verb, comment = null }: Decided,
): Promise<DoneSome> {
  const { bind, list } = new Values();
  const { table_definition_id: definition, ...wanted } = filter;
  if (definition !== undefined && !definitions.includes(definition)) throw notFound('Table definition');
  const among = definition === undefined ? definitions : [definition];
  const ids = operation_ids && [...new Set(operation_ids)];
  const named = ids ? ` and o.id = any(${bind(ids, 'bigint[]')})` : '';
  const decision = decisionOf[verb];
  const isTaken = decision !== 'undecided';
  const { rows } = await sql(
    `with recursive wanted as materialized (select o.id from change_request_operation o where ${wantedSql(header, among, wanted, bind)}${named}),` +
      ` ${tiesSql(header, tables, decision, bind).join(', ')},` +
      ` decided as (update change_request_operation o set decision = ${bind(decision, 'text')}, comment = ${bind(comment, 'text')},` +
      ` decided_by = ${bind(isTaken ? (call.userId ?? null) : null, 'int')}, decided_at = ${isTaken ? 'now()' : 'null'}` +
      ` from (select id from wanted union all select operation_id from also) d` +
      ` where o.account_id = ${bind(header.account_id, 'int')} and o.change_request_id = ${bind(header.id, 'int')} and o.id = d.id)` +
      ` select (select count(*) from wanted) as decided_count, (select count(*) from also) as also_count,` +
      ` (select coalesce(json_agg(a order by operation_id), '[]') from (select * from also order by operation_id limit ${limits.gridRows}) a) as also` +
      (ids ? ', array(select id from wanted) as found' : ''),
    list,
  );
  const [done] = rows as (DoneSome & { found?: number[] })[];
  if (!done) throw new Error('a decision has no outcome');
  if (ids) refuseUnknownOperations(ids, (done.found ?? []).map(Number));
  return done;
}

async function countDecisions(sql: Sql, { account_id, id }: ChangeRequest): Promise<Record<Decision, number>> {
  const { rows } = await sql(
    `select decision, count(*) as count from change_request_operation
     where account_id = $1::int and change_request_id = $2::int group by 1`,
    [account_id, id],
  );
  const counts = { undecided: 0, accepted: 0, rejected: 0, returned: 0 };
  for (const { decision, count } of rows as { decision: Decision; count: number }[]) counts[decision] = count;
  return counts;
}
