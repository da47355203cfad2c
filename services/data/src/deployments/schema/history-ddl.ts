// The history of a deployed table: a table of the same columns that keeps superseded versions, and
// the trigger that fills it. One mechanism for every channel, so that none can leave it out
// (docs/adr/0006-row-history.md). Pure.
import { systemColumns } from '../../rows/fields.ts';
import { bareHistoryName, columnName, historyName, tableName } from '../../sql/identifiers.ts';
import type { Shape } from '../../tables/table.ts';
import type { TableObject } from './table-object.ts';

/**
 * Makes the history of an existing table, with the columns it has. Lookups are by row, or by the
 * end of a version: ends come in the order of time, so BRIN, the smallest index, finds them and
 * costs a write next to nothing.
 */
export function createHistory(table: Omit<Shape, 'structure'>): string[] {
  const name = historyName(table);
  return [
    `create table ${name} (like ${tableName(table)})`,
    `alter table ${name} drop column svc_live, add column svc_valid_to timestamptz(3) not null, add primary key (svc_sk, svc_version)`,
    `create index on ${name} using brin (svc_valid_to) with (pages_per_range = 32, autosummarize = on)`,
  ];
}

/** The function and trigger that fill it; they change with the columns of the table. */
export function historyObjects(table: Shape): TableObject[] {
  const name = historyName(table);
  // In the order of lineages: reordering columns needs no DDL.
  const own = table.structure.columns.toSorted((a, b) => a.lineage_id - b.lineage_id);
  const columns = [...systemColumns, ...own.map(columnName)];
  // The plan is made once per connection, for however many rows come first; a nested loop would be
  // ruinous when many come later.
  const create =
    `create function ${name}() returns trigger language plpgsql set enable_nestloop = off as $$begin` +
    ` insert into ${name} (${columns.join(', ')}, svc_valid_to)` +
    ` select ${columns.map((column) => `o.${column}`).join(', ')}, n.svc_updated_at` +
    ` from superseded o join successor n using (svc_sk) where o.svc_version <> n.svc_version; return null; end$$`;
  const trigger =
    `create trigger ${bareHistoryName(table)} after update on ${tableName(table)}` +
    ` referencing old table as superseded new table as successor for each statement execute function ${name}()`;
  return [
    { kind: 'function', name, signature: create, create, drop: `drop function ${name}()` },
    {
      kind: 'trigger',
      name: bareHistoryName(table),
      signature: `${trigger} ${create}`,
      create: trigger,
      drop: `drop trigger ${bareHistoryName(table)} on ${tableName(table)}`,
    },
  ];
}
