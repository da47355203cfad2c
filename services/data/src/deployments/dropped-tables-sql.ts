/** Whether a table, by its id, is neither in service nor kept for a restoration. */
export const isDroppedSql = (id: string): string =>
  `not exists (select from deployed_table d where d.table_definition_id = ${id})` +
  ` and not exists (select from retired_table r where r.table_definition_id = ${id})`;
