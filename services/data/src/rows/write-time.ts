// The time of a set-based write, which all its rows get.
import { tableName } from '../sql/identifiers.ts';
import type { Statement } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';

/**
 * The time of a load: not before that of any row, for PostgreSQL's clock may have been set back,
 * and unique among loads. One row: `at`, and `last`, the highest svc_sk.
 */
export function stampSql(table: DeployedTable): Statement {
  return {
    text:
      `select greatest(date_trunc('milliseconds', clock_timestamp()),` +
      ` date_trunc('milliseconds', (select max(svc_updated_at) from ${tableName(table)}) + interval '999 microseconds'),` +
      ` (select max(at) + interval '1 millisecond' from bulk_write where table_definition_id = $1::int))::text as at,` +
      ` (select coalesce(max(svc_sk), 0) from ${tableName(table)})::text as last`,
    values: [table.table_definition_id],
  };
}
