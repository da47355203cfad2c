// The rejected rows of a load as CSV: the file's own columns, then the row's number and the
// reasons. Kept for a day.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { copyOut } from '../postgres/copy-out.ts';
import type { Pools } from '../postgres/pools.ts';
import { openSnapshot } from '../postgres/snapshot.ts';
import { quoteLiteral } from '../sql/literals.ts';
import { csvLine } from './csv.ts';
import type { LoadName } from './staging/load-sessions.ts';

/** The rejected rows; 404 when there is no such load. */
export async function* readRejectedRows(
  { pools }: { pools: Pools },
  call: CallContext,
  loadId: string,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { rows } = await pgSql(pools.rows)(
    'select file_columns from finished_load where account_id = $1::int and load_id = $2',
    [call.accountId, loadId],
  );
  if (!rows[0]) throw notFound('Load');
  const columns = rows[0].file_columns as string[];
  yield Buffer.from(csvLine([...columns, 'svc_row', 'svc_errors']));
  const client = await openSnapshot(pools.quiet, ['rejected_block', 'rejected_row']);
  yield* copyOut(client, [copySql(columns.length, { accountId: call.accountId, loadId })], signal);
}

function copySql(columns: number, { accountId, loadId }: LoadName): string {
  const ofLoad = `account_id = ${Number(accountId)} and load_id = ${quoteLiteral(loadId)}`;
  const kept =
    'select (x.row->>0)::bigint as number, x.row->1 as cells, x.row->2 as reasons' +
    ` from rejected_block b cross join lateral jsonb_array_elements(b.rows) x(row) where b.${ofLoad}` +
    ` union all select row_number, to_jsonb(cells), reasons from rejected_row where ${ofLoad}`;
  const cells = Array.from({ length: columns }, (_, i) => `cells->>${i}`).join(', ');
  const why = `(select string_agg(x.value->>'message', '; ' order by x.n) from jsonb_array_elements(reasons) with ordinality x(value, n))`;
  return `copy (select ${cells}, number, ${why} from (${kept}) r order by number) to stdout with (format csv)`;
}

/**
 * Deletes what loads older than a day have rejected or, in dry runs, would have changed, and
 * results older than 30 days.
 */
export async function sweepLoads(sql: Sql): Promise<void> {
  for (const kept of ['rejected_block', 'rejected_row', 'changed_block'])
    await sql(`delete from ${kept} r using finished_load l where r.account_id = l.account_id and r.load_id = l.load_id
      and l.finished_at < now() - interval '1 day'`);
  await sql(`delete from finished_load where finished_at < now() - interval '30 days'`);
}
