// Reads the log of an account in the order of its ids, which is the order of the commits.
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { type AccountEvent, splitTypes, type TypeFilter } from './account-event.ts';

/** A filter for rare types reads at most so many events for one page. */
const scanned = 10_000;

export type EventPage = {
  events: AccountEvent[];
  /** Where the next page begins: the last event read, whether it matched the types or not. */
  cursor: number;
  /** Whether events after the cursor wait to be read; the page itself may be empty. */
  hasMore: boolean;
};

/** An event of the log (`row`) as the API shows it, in SQL. `more`: members after the type. */
export const eventJsonSql = (row: string, more = ''): string => `json_build_object('id', ${row}.id, 'type', ${row}.type,
  ${more} 'time', ${eventTimeSql(row)}, 'actor', ${row}.actor, 'resource', ${row}.resource,
  'api_version', ${row}.api_version, 'data', ${row}.data)`;

/** The time of an event as JSON has it. */
export const eventTimeSql = (row: string): string =>
  `to_char(${row}.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

type Reading = { after: number; types?: TypeFilter; limit: number };

/**
 * The events after `after`, the oldest first. Doesn't check whether the log still has all of them
 * (`requireKept`).
 */
export async function readEvents(db: Sql, accountId: number, reading: Reading): Promise<EventPage> {
  const { after, types = [], limit } = reading;
  const { exact, prefixes } = splitTypes(types);
  const { rows } = await db(
    `with scanned as materialized (
       select id, type from account_event where account_id = $1::int and id > $2::bigint order by id limit $3::int
     ), page as materialized (
       select id from scanned
       where $4::boolean or type = any($5::text[]) or exists (select from unnest($6::text[]) p where starts_with(type, p))
       order by id limit $7::int
     )
     select (select count(*) from scanned)::int as scanned, (select max(id) from scanned) as scanned_to,
       (select coalesce(json_agg(${eventJsonSql('e')} order by e.id), '[]') from account_event e where e.id in (select id from page)) as events`,
    [accountId, after, types.length === 0 ? limit + 1 : scanned, types.length === 0, exact, prefixes, limit + 1],
  );
  const [read] = rows as [{ scanned: number; scanned_to: unknown; events: AccountEvent[] }];
  const events = read.events.slice(0, limit);
  if (read.events.length > limit) return { events, cursor: events.at(-1)?.id ?? after, hasMore: true };
  const isWhole = types.length === 0 || read.scanned < scanned;
  return { events, cursor: read.scanned_to === null ? after : Number(read.scanned_to), hasMore: !isWhole };
}

/** The range of the log: the last event that was removed, and the last event; 0 for none. */
export async function readLogRange(db: Sql, accountId: number): Promise<{ removedTo: number; last: number }> {
  const { rows } = await db(
    `select coalesce((select removed_id from account_event_start where account_id = $1::int), 0) as removed,
       coalesce((select max(id) from account_event where account_id = $1::int), 0) as last`,
    [accountId],
  );
  const { removed, last } = rows[0] as { removed: unknown; last: unknown };
  return { removedTo: Number(removed), last: Math.max(Number(removed), Number(last)) };
}

/** The last event that was recorded more than so many seconds ago; 0 for none. */
export async function readPositionBefore(db: Sql, accountId: number, seconds: number): Promise<number> {
  const { rows } = await db(
    `select coalesce((select max(id) from account_event
         where account_id = $1::int and recorded_at < now() - make_interval(secs => $2::int)),
       (select removed_id from account_event_start where account_id = $1::int), 0) as position`,
    [accountId, seconds],
  );
  return Number((rows[0] as { position: unknown }).position);
}

/** The longest time from an event to its place in the log, in seconds, of the last five minutes. */
export async function readLogDelay(pool: pg.Pool): Promise<number> {
  const { rows } = await pgSql(pool)(
    `select coalesce(max(extract(epoch from recorded_at - occurred_at)), 0)::float8 as delay
     from account_event where recorded_at > now() - interval '5 minutes'`,
  );
  return Math.max(0, rows[0]?.delay as number);
}
