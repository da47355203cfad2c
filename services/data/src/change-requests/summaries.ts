// How many operations change requests have, of which kind, and how they are decided.
import type { Sql } from '@almanac/service-kit/postgres/database';
import { revisionOf } from './revision.ts';

type TableSummary = {
  table_definition_id: number;
  key: string;
  name: string;
  domain_id: number;
  created: number;
  updated: number;
  deleted: number;
  with_problems: number;
};

export type ChangeRequestSummary = {
  change_request_id: number;
  branch_id: number;
  phase: string;
  tables: TableSummary[];
  operation_count: number;
  undecided: number;
  accepted: number;
  rejected: number;
  returned: number;
  with_problems: number;
  revision: string;
};

type Counted = Omit<TableSummary, 'key' | 'name' | 'domain_id'> & {
  change_request_id: number;
  key: string | null;
  name: string | null;
  domain_id: number | null;
  operations: number;
  undecided: number;
  accepted: number;
  rejected: number;
  returned: number;
};

const countOf = (condition: string, name: string) => `count(*) filter (where ${condition}) as ${name}`;

const countsSql = `
  select c.*, d.key, d.name, d.domain_id from (
    select o.change_request_id, o.table_definition_id, count(*) as operations,
      ${countOf("kind in ('create', 'restore')", 'created')}, ${countOf("kind = 'update'", 'updated')},
      ${countOf("kind = 'delete'", 'deleted')}, ${countOf('has_problem', 'with_problems')},
      ${['undecided', 'accepted', 'rejected', 'returned'].map((each) => countOf(`decision = '${each}'`, each)).join(', ')}
    from change_request_operation o where o.account_id = $1::int and o.change_request_id = any($2::int[])
    group by 1, 2) c
  left join deployed_table d on d.account_id = $1::int and d.table_definition_id = c.table_definition_id
  order by c.table_definition_id`;

/**
 * One for each request that there is, in the order of the ids. A table that isn't deployed has no
 * key and name. `withRevision`: reads the versions of all rows concerned.
 */
export async function summarize(
  sql: Sql,
  accountId: number,
  ids: number[],
  withRevision: boolean,
): Promise<ChangeRequestSummary[]> {
  const { rows: headers } = await sql(
    'select id, branch_id, phase from change_request where account_id = $1::int and id = any($2::int[])',
    [accountId, ids],
  );
  const byId = new Map(headers.map((row) => [row.id as number, row]));
  const counted = (await sql(countsSql, [accountId, [...byId.keys()]])).rows as Counted[];
  const byRequest = Map.groupBy(counted, ({ change_request_id }) => change_request_id);
  const summaries: ChangeRequestSummary[] = [];
  for (const id of new Set(ids)) {
    const header = byId.get(id);
    if (!header) continue;
    const tables = byRequest.get(id) ?? [];
    const sum = (count: (table: Counted) => number) => tables.reduce((total, table) => total + count(table), 0);
    summaries.push({
      change_request_id: id,
      branch_id: header.branch_id as number,
      phase: header.phase as string,
      tables: tables.map(({ key, name, domain_id, ...table }) => ({
        table_definition_id: table.table_definition_id,
        key: key ?? '',
        name: name ?? '',
        domain_id: domain_id ?? 0,
        created: table.created,
        updated: table.updated,
        deleted: table.deleted,
        with_problems: table.with_problems,
      })),
      operation_count: sum(({ operations }) => operations),
      undecided: sum(({ undecided }) => undecided),
      accepted: sum(({ accepted }) => accepted),
      rejected: sum(({ rejected }) => rejected),
      returned: sum(({ returned }) => returned),
      with_problems: sum(({ with_problems }) => with_problems),
      revision: withRevision ? await revisionOf(sql, accountId, id) : '',
    });
  }
  return summaries;
}
