// Tables so large that a deployment must not read all their rows while it keeps others out.

import { tableName } from '../../sql/identifiers.ts';
import type { Statement } from '../../sql/statement.ts';
import type { DeployedTable } from '../../tables/table.ts';

// PostgreSQL reads so much, or makes an index of it, in a few hundredths of a second.
const largeBytes = 8 * 2 ** 20;

/** Which of these tables are large, by lineage. */
export function largeTablesSql(tables: DeployedTable[]): Statement {
  return {
    text: `select lineage_id from unnest($1::int[], $2::text[]) as t(lineage_id, name)
           where pg_relation_size(to_regclass(name)) >= $3::bigint`,
    values: [tables.map(({ lineage_id }) => lineage_id), tables.map(tableName), largeBytes],
  };
}
