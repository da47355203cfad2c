// What the tests of history ask: the versions of rows, and rows as they were.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Call } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import { readHighWaterMark } from '../src/postgres/high-water-mark.ts';
import type { DataNet } from './given.ts';

const path = '/api/v1/table_data';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any version
export type Version = any;

/** The versions of a row, newest first. */
export async function versionsOf(call: Call, table: number, id: number): Promise<Version[]> {
  const answer = await call('GET', `${path}/${id}/history?table_definition_id=${table}&per_page=1000`);
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** The rows at an instant, deleted ones too, oldest first. */
export async function rowsAsOf(call: Call, table: number, asOf: string) {
  const query = `table_definition_id=${table}&sort=svc_sk&per_page=1000&include_deleted=true&as_of=${asOf}`;
  const answer = await call('GET', `${path}?${query}`);
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

export const patch = (call: Call, table: number, id: number, record: Record<string, unknown>, headers = {}) =>
  call('PATCH', `${path}/${id}`, { table_definition_id: table, record }, headers);
export const remove = (call: Call, table: number, ids: number[]) =>
  call('POST', `${path}/delete_records`, { table_definition_id: table, ids });
export const restore = (call: Call, table: number, ids: number[]) =>
  call('POST', `${path}/restore_records`, { table_definition_id: table, ids });
export const revert = (call: Call, table: number, id: number, version: number, headers = {}) =>
  call('POST', `${path}/${id}/revert`, { table_definition_id: table, version }, headers);

/** Waits until what is written next has a later time than this one: times have milliseconds. */
export async function passed(net: DataNet, at: string): Promise<void> {
  const later = `select clock_timestamp() >= $1::timestamptz + interval '1 millisecond' as later`;
  await eventually(async () => expect(await net.query(later, [at])).toEqual([{ later: true }]), { everyMs: 1 });
}

/**
 * Waits until marks are past what has been written so far: what the service does beside it holds
 * them back for a moment.
 */
export async function marksPassed(net: DataNet): Promise<void> {
  const [clock] = await net.query('select clock_timestamp()::text as now');
  const text = 'select $1::timestamptz > $2::timestamptz as past';
  await eventually(async () => {
    const mark = await readHighWaterMark(pgSql(net.context.pools.rows));
    expect(await net.query(text, [mark, clock?.now])).toEqual([{ past: true }]);
  });
}

/** How many superseded versions a table keeps. */
export async function kept(net: DataNet, table: number, branch = 1): Promise<number> {
  const [row] = await net.query(`select count(*)::int as n from b_${branch}.h_${table}`);
  return row?.n as number;
}

/** Rows whose versions leave a gap, overlap or are not all there; none is as it should be. */
export function gaps(net: DataNet, table: number, branch = 1): Promise<Record<string, unknown>[]> {
  return net.query(
    `select svc_sk, svc_version from (
       select svc_sk, svc_version, svc_updated_at, svc_valid_to, lead(svc_updated_at) over w as next_from,
         row_number() over w as place, lead(svc_version) over w as next_version
       from (select svc_sk, svc_version, svc_updated_at, svc_valid_to from b_${branch}.h_${table}
             union all select svc_sk, svc_version, svc_updated_at, null from b_${branch}.t_${table}) versions
       window w as (partition by svc_sk order by svc_version)) chained
     where place <> svc_version or next_version <> svc_version + 1 or svc_valid_to is distinct from next_from
       or svc_valid_to < svc_updated_at`,
  );
}
