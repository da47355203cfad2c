// The rejected rows of a load, kept for a day. As CSV: the file's own columns, then the row's
// number and the reasons. By window: each with its cells and what is wrong with them.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { copyOut } from '../postgres/copy-out.ts';
import type { Pools } from '../postgres/pools.ts';
import { openSnapshot } from '../postgres/snapshot.ts';
import { answerChunks } from '../rows/answer-chunks.ts';
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
  const cells = Array.from({ length: columns }, (_, i) => `cells->>${i}`).join(', ');
  const why = `(select string_agg(x.value->>'message', '; ' order by x.n) from jsonb_array_elements(reasons) with ordinality x(value, n))`;
  return `copy (select ${cells}, number, ${why} from (${keptSql(ofLoad)}) r order by number) to stdout with (format csv)`;
}

// `ofLoad`: a condition of account_id and load_id.
const keptSql = (ofLoad: string) =>
  'select (x.row->>0)::bigint as number, x.row->1 as cells, x.row->2 as reasons' +
  ` from rejected_block b cross join lateral jsonb_array_elements(b.rows) x(row) where b.${ofLoad}` +
  ` union all select row_number, to_jsonb(cells), reasons from rejected_row where ${ofLoad}`;

/** `rows`: only those with these numbers in the file; all when it is empty. */
type RejectedWindow = { loadId: string; rows: number[]; startRow: number; endRow: number };

/**
 * A window of the rejected rows in the order of the file, as chunks of the JSON. 404 when there is
 * no such load, or its rejected rows are no longer kept.
 */
export async function listRejectedRows(
  { pools }: { pools: Pools },
  call: CallContext,
  { loadId, rows, startRow, endRow }: RejectedWindow,
): Promise<Buffer[]> {
  if (startRow < 0 || endRow <= startRow || endRow - startRow > limits.gridRows)
    throw new ServiceError('bad_request', { code: 'out_of_range', message: 'There is no such window of rows.' });
  const kept = keptSql('account_id = $1::int and load_id = $2');
  const chosen = `select * from (${kept}) k where cardinality($3::bigint[]) = 0 or number = any($3::bigint[])`;
  const { rows: found } = await pgSql(pools.rows)(
    `with chosen as materialized (${chosen}),
       shown as (select * from chosen order by number limit $5::int - $4::int offset $4::int)
     select jsonb_build_object(
         'columns', f.file_columns,
         'rows', (select coalesce(jsonb_agg(jsonb_build_object('row', number, 'cells', cells, 'problems', reasons)
           order by number), '[]') from shown),
         'rowCount', (select count(*) from chosen))::text as answer
     from finished_load f where f.account_id = $1::int and f.load_id = $2 and f.finished_at > now() - interval '1 day'`,
    [call.accountId, loadId, rows, startRow, endRow],
  );
  if (!found[0]) throw notFound('Load');
  return answerChunks(found[0].answer as string);
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
