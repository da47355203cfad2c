// The order in which tables are copied: a copy keeps its references to tables that are there.
import type { Table } from '../../api/queries.ts';

type Referring = Pick<Table, 'id'> & { column_definitions: readonly { foreign_key_table_id: number | null }[] };

/** The ids with those of referenced tables first. */
export function referencedFirst(ids: readonly number[], tables: readonly Referring[]): number[] {
  const wanted = new Set(ids);
  const ordered = new Set<number>();
  const seen = new Set<number>();
  const visit = (id: number) => {
    if (seen.has(id) || !wanted.has(id)) return;
    seen.add(id);
    const table = tables.find((one) => one.id === id);
    for (const { foreign_key_table_id: referenced } of table?.column_definitions ?? [])
      if (referenced !== null) visit(referenced);
    ordered.add(id);
  };
  for (const id of ids) visit(id);
  return [...ordered];
}
