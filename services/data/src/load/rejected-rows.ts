// The rows a load refused, as CSV: the file's own columns, then the row's number and why. Kept for a day.
import type { CallContext } from '@almanac/service-kit/call-context';
import { pgSql, type Sql } from '@almanac/service-kit/database';
import { notFound } from '@almanac/service-kit/errors';
import type { DataContext } from '../context.ts';
import { quoteLiteral } from '../query/literals.ts';
import { copyOut } from '../read/copy-out.ts';
import { csvLine } from '../read/csv.ts';

/** 404 when there is no such load. */
export async function* readRejectedRows(
  ctx: DataContext,
  call: CallContext,
  loadId: string,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { rows } = await pgSql(ctx.pools.rows)(
    'select file_columns from finished_load where account_id = $1::int and load_id = $2',
    [call.accountId, loadId],
  );
  if (!rows[0]) throw notFound('Load');
  const columns = rows[0].file_columns as string[];
  yield Buffer.from(csvLine([...columns, 'svc_row', 'svc_errors']));
  const cells = columns.map((_, i) => `cells[${i + 1}]`).join(', ');
  const reasons = `(select string_agg(x.value->>'message', '; ' order by x.n) from jsonb_array_elements(reasons) with ordinality x(value, n))`;
  const select = `select ${cells}, row_number, ${reasons} from rejected_row where account_id = ${Number(call.accountId)} and load_id = ${quoteLiteral(loadId)} order by row_number`;
  const client = await ctx.pools.quiet.connect();
  yield* copyOut([client], [`copy (${select}) to stdout with (format csv)`], signal);
}

/** Forgets loads older than a day, with their rejected rows. */
export async function sweepLoads(sql: Sql): Promise<void> {
  await sql(`delete from rejected_row r using finished_load l where r.account_id = l.account_id and r.load_id = l.load_id
    and l.finished_at < now() - interval '1 day'`);
  await sql(`delete from finished_load where finished_at < now() - interval '30 days'`);
}
