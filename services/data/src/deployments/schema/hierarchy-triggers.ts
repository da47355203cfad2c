// The triggers of a hierarchy: every channel that writes rows is refused a cycle. Pure.
import { bareHierarchyName, columnName, hierarchyName, tableName } from '../../sql/identifiers.ts';
import { hierarchiesOf, keyTextSql, shownRows } from '../../tables/hierarchies.ts';
import type { ForeignKey, Shape } from '../../tables/table.ts';
import type { TableObject } from './table-object.ts';

// Only rows that newly refer to another row, or whose key others refer to has changed, can close a
// cycle. The rows above them are visited, each once, by index. The settings keep the plan right for
// however many rows come later in the session; OFFSET 0 makes each step an index lookup.
export function triggerFunctionSql(table: Shape, { columns, target_columns }: ForeignKey): string {
  const name = tableName(table);
  const own = columns.map((lineage_id) => columnName({ lineage_id }));
  const key = target_columns.map((lineage_id) => columnName({ lineage_id }));
  const refers = own.map((column) => `n.${column} is not null`).join(' and ');
  const edge = (row: string) => ['svc_live', ...own, ...key].map((column) => `${row}.${column}`).join(', ');
  const step = (from: string, row: string) =>
    ` cross join lateral (select ${own.join(', ')} from ${name} where svc_sk = ${from} and svc_live offset 0) ${row}` +
    ` cross join lateral (select svc_sk from ${name} p where p.svc_live and ${key.map((column, i) => `p.${column} = ${row}.${own[i]}`).join(' and ')} offset 0) p`;
  return (
    `returns trigger language plpgsql set enable_nestloop = off set enable_seqscan = off set jit = off as $$declare` +
    ` changed bigint[]; child bigint[]; parent bigint[]; cycle bigint[]; begin` +
    ` if tg_op = 'INSERT' then changed := array(select n.svc_sk from successor n where n.svc_live and ${refers});` +
    ` else changed := array(select n.svc_sk from successor n join superseded o using (svc_sk)` +
    ` where n.svc_live and ${refers} and (${edge('n')}) is distinct from (${edge('o')})); end if;` +
    ` if cardinality(changed) = 0 then return null; end if;` +
    ` insert into hierarchy_turn as h (branch_id, lineage_id) values (${table.branch_id}, ${table.lineage_id})` +
    ` on conflict (branch_id, lineage_id) do update set turns = h.turns + 1;` +
    ` with recursive up(child, parent) as (select c.sk, p.svc_sk from unnest(changed) c(sk)${step('c.sk', 's')}` +
    ` union select u.parent, p.svc_sk from up u${step('u.parent', 's')})` +
    ` select array_agg(u.child), array_agg(u.parent) into child, parent from up u;` +
    ` cycle := rows_on_cycles(child, parent);` +
    ` if cardinality(cycle) = 0 then return null; end if;` +
    ` raise exception 'rows lead back to themselves' using errcode = 'check_violation', schema = tg_table_schema, table = tg_table_name,` +
    ` constraint = '${bareHierarchyName(table, columns[0] as number)}', detail = (` +
    `with recursive path(place, sk) as (select 1, cycle[1] union all select y.place + 1, e.parent from path y` +
    ` join unnest(child, parent) e(child, parent) on e.child = y.sk where e.parent <> cycle[1] and y.place <= ${shownRows})` +
    ` select json_agg(json_build_array(y.sk::text, ${keyTextSql(table, 't')}) order by y.place) from path y join ${name} t on t.svc_sk = y.sk);` +
    ` end$$`
  );
}

/**
 * The triggers that refuse a cycle, and their function: they change with the reference and with the
 * key. They may exist already, as a release before hierarchies doesn't drop them.
 */
export function hierarchyObjects(table: Shape): TableObject[] {
  return hierarchiesOf(table).flatMap((hierarchy) => {
    const first = hierarchy.columns[0] as number;
    const name = hierarchyName(table, first);
    const create = `create or replace function ${name}() ${triggerFunctionSql(table, hierarchy)}`;
    const trigger = (event: 'insert' | 'update'): TableObject => {
      const bare = `${bareHierarchyName(table, first)}_${event}`;
      const seen = event === 'insert' ? '' : 'old table as superseded ';
      const made =
        `create or replace trigger ${bare} after ${event} on ${tableName(table)}` +
        ` referencing ${seen}new table as successor for each statement execute function ${name}()`;
      const drop = `drop trigger if exists ${bare} on ${tableName(table)}`;
      return { kind: 'trigger', name: bare, signature: `${made} ${create}`, create: made, drop };
    };
    return [
      { kind: 'function', name, signature: create, create, drop: `drop function if exists ${name}()` },
      trigger('insert'),
      trigger('update'),
    ];
  });
}
