// Keeps the rejected rows of a load until they are read. Pure.
import { reasonsName } from '../../sql/identifiers.ts';
import type { Statement } from '../../sql/statement.ts';
import { loadLimits } from '../staging/load-limits.ts';
import type { LoadName } from '../staging/load-sessions.ts';

/** Keeps the first of the rejected rows of a merge, as many as a load may have: one row `kept`. */
export function keepRejectedSql(number: number, { accountId, loadId }: LoadName): Statement {
  const sized =
    'select svc_row, cells, reasons, row_number() over (order by svc_row) as place,' +
    ` sum(octet_length(cells::text) + octet_length(reasons::text)) over (order by svc_row) as bytes from ${reasonsName(number)}`;
  return {
    text:
      'with kept as (insert into rejected_block (account_id, load_id, number, rows)' +
      ` select $1::int, $2::text, (bytes / ${blockBytes})::int, jsonb_agg(jsonb_build_array(svc_row, cells, reasons) order by svc_row)` +
      ` from (${sized}) r where place <= ${loadLimits.rejectedRows} and bytes <= ${loadLimits.rejectedBytes}` +
      ' group by 3 returning jsonb_array_length(rows) as rows)' +
      ' select coalesce(sum(rows), 0)::int as kept from kept',
    values: [accountId, loadId],
  };
}

/** Bytes of rows in one block. PostgreSQL compresses a value, and a reader reads it as a whole. */
export const blockBytes = 128 * 1024;
