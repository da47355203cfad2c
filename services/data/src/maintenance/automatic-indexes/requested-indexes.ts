// The indexes that pages would use, kept in the database: so that the requests of all instances add
// up, and survive a restart.
import type { Sql } from '@almanac/service-kit/postgres/database';
import { gridIndexPattern } from '../../sql/identifiers.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { columnIdOf, findField, type GridIndex, type Kind } from './grid-index.ts';
import type { ExistingIndex, RequestedIndex } from './index-plan.ts';

/** How often an index was requested since the last save. */
export type IndexRequest = {
  table_definition_id: number;
  column_id: number;
  kind: Kind;
  equal_id: number;
  asked: number;
};

const noColumn = 0;

/** Counts the requests of this process. */
export class IndexRequests {
  private readonly byIndex = new Map<string, IndexRequest>();

  add(table: Pick<DeployedTable, 'table_definition_id'>, { field, kind, equal }: GridIndex): void {
    const { table_definition_id } = table;
    const column_id = columnIdOf(field);
    const equal_id = equal ? columnIdOf(equal) : noColumn;
    const key = `${table_definition_id} ${column_id} ${kind} ${equal_id}`;
    const known = this.byIndex.get(key);
    if (known) known.asked += 1;
    else this.byIndex.set(key, { table_definition_id, column_id, kind, equal_id, asked: 1 });
  }

  get isEmpty(): boolean {
    return this.byIndex.size === 0;
  }

  /** The requests, which are then empty. */
  take(): IndexRequest[] {
    const all = [...this.byIndex.values()];
    this.byIndex.clear();
    return all;
  }
}

/** Adds the requests to those in the database. */
export async function saveRequests(sql: Sql, asked: IndexRequest[]): Promise<void> {
  // In one order, so that two processes never deadlock.
  const rows = asked.toSorted(
    (a, b) =>
      a.table_definition_id - b.table_definition_id ||
      a.column_id - b.column_id ||
      a.equal_id - b.equal_id ||
      (a.kind < b.kind ? -1 : 1),
  );
  await sql(
    `insert into grid_index as g (table_definition_id, column_id, kind, equal_id, asked)
     select table_definition_id, column_id, kind, equal_id, asked
     from jsonb_to_recordset($1::jsonb) as a(table_definition_id int, column_id int, kind text, equal_id int, asked bigint)
     on conflict (table_definition_id, column_id, kind, equal_id)
       do update set asked = g.asked + excluded.asked, last_asked_at = now()`,
    [JSON.stringify(rows)],
  );
}

/** All requested indexes of deployed tables. */
export async function listRequested(sql: Sql): Promise<RequestedIndex[]> {
  const { rows } = await sql(
    `select g.column_id, g.kind, g.equal_id, g.asked, greatest(c.reltuples, 0)::bigint as rows,
       extract(epoch from now() - g.last_asked_at)::float8 / 86400 as idle_days,
       extract(epoch from now() - g.failed_at)::float8 / 86400 as failed_days, to_jsonb(d) as table,
       (select jsonb_object_agg(s.attname, s.n_distinct) from pg_stats s
        where s.schemaname = n.nspname and s.tablename = c.relname and not s.inherited) as distinct_values
     from grid_index g join deployed_table d using (table_definition_id)
       join pg_class c on c.oid = to_regclass(format('b_%s.t_%s', d.branch_id, d.lineage_id))
       join pg_namespace n on n.oid = c.relnamespace`,
  );
  return rows.map(({ distinct_values, ...request }) => {
    const distinctOf = (columnId: number): number | null =>
      distinct_values?.[findField(request.table, columnId)?.sql as string] ?? null;
    return {
      ...request,
      distinct: distinctOf(request.column_id),
      equal_distinct: distinctOf(request.equal_id),
    } as RequestedIndex;
  });
}

/** The indexes of the grid in the database, also of tables no longer in service. */
export async function listExisting(sql: Sql): Promise<ExistingIndex[]> {
  const { rows } = await sql(
    `select n.nspname as schema, c.relname as name, t.relname as table, i.indisvalid as valid,
       i.indoption[case when c.relname ~ '_e' then 1 else 0 end]::int as option
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_index i on i.indexrelid = c.oid join pg_class t on t.oid = i.indrelid
     where c.relname ~ $1 and n.nspname ~ '^b_[0-9]+$' order by 1, 2`,
    [gridIndexPattern],
  );
  return rows as ExistingIndex[];
}

/** Records that an index couldn't be made; it isn't tried again for a while. */
export async function saveFailure(
  sql: Sql,
  { table_definition_id }: Pick<DeployedTable, 'table_definition_id'>,
  { field, kind, equal }: GridIndex,
  failure: string,
): Promise<void> {
  await sql(
    `update grid_index set failed_at = now(), failure = $4
     where table_definition_id = $1::int and column_id = $2::int and (kind = 'words') = ($3 = 'words') and equal_id = $5::int`,
    [table_definition_id, columnIdOf(field), kind, failure, equal ? columnIdOf(equal) : noColumn],
  );
}

/** Deletes indexes not requested for this many days, and those of tables no longer in service. */
export async function deleteIdle(sql: Sql, days: number): Promise<void> {
  await sql(
    `delete from grid_index g where last_asked_at < now() - make_interval(days => $1::int)
       or not exists (select from deployed_table d where d.table_definition_id = g.table_definition_id)`,
    [days],
  );
}
