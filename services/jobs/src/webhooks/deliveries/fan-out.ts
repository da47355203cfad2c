// Makes deliveries of events: each endpoint has a position in the log of its account, and gets the
// events after it that it has chosen. The position moves in the statement that makes the
// deliveries, so every event becomes one delivery, whichever process dies.
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';

const endpointsAtOnce = 100;
const eventsAtOnce = 500;

// The table that an event `v` is about, of its rows or its definition; null for other events.
const tableId = `case when v.resource->>'type' in ('table', 'table_definition') then (v.resource->>'id')::int end`;

/**
 * Whether an endpoint `e` has chosen an event `v`, in SQL. Chosen tables limit events about tables
 * only: what is not about a table depends on its type alone.
 */
const hasChosen = `(
  exists (select from unnest(e.event_types) t
    where t = v.type or (right(t, 1) = '*' and starts_with(v.type, left(t, -1))))
  and (cardinality(e.table_definition_ids) = 0 or coalesce(${tableId} = any(e.table_definition_ids), true))
)`;

// Deliveries of one endpoint that are about the same table, or the same other thing, are sent one
// after another.
const orderedBy = `coalesce('table:' || ${tableId}, (v.resource->>'type') || ':' || (v.resource->>'id'), '')`;

/** Makes the deliveries of events that wait; true when there may be more. */
export async function fanOut(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pgSql(pool)(
    `with e as (
       select id, account_id, position, event_types, table_definition_ids from webhook_endpoint w
       where enabled and exists (select from account_event v where v.account_id = w.account_id and v.id > w.position)
       order by id limit ${endpointsAtOnce} for update skip locked
     ), v as (
       select e.id as endpoint_id, read.* from e cross join lateral (
         select id, type, resource from account_event v
         where v.account_id = e.account_id and v.id > e.position order by v.id limit ${eventsAtOnce}
       ) read
     ), made as (
       insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, event_type, resource)
       select e.account_id, e.id, v.id, v.id::text, v.type, ${orderedBy}
       from e join v on v.endpoint_id = e.id where ${hasChosen} order by v.id
     ), moved as (
       update webhook_endpoint w set position = read.last
       from (select endpoint_id, max(id) as last, count(*) as events from v group by endpoint_id) read
       where w.id = read.endpoint_id returning read.events
     )
     select count(*)::int as endpoints, coalesce(max(events), 0)::int as events from moved`,
  );
  const [read] = rows as [{ endpoints: number; events: number }];
  return read.endpoints === endpointsAtOnce || read.events === eventsAtOnce;
}

/** Where an endpoint begins that wants only what comes. */
export async function readEnd(sql: Sql, accountId: number): Promise<number> {
  const { rows } = await sql('select coalesce(max(id), 0) as last from account_event where account_id = $1::int', [
    accountId,
  ]);
  return Number(rows[0]?.last);
}

/**
 * Moves an endpoint back before the first event of a moment or later: it gets that and all later
 * ones again, in their order. Answers how many events those are that it has chosen.
 */
export async function moveBack(sql: Sql, accountId: number, endpointId: number, since: Date): Promise<number> {
  const { rows } = await sql(
    `with first as (
       select min(id) as id from account_event where account_id = $1::int and occurred_at >= $3::timestamptz
     ), e as (
       update webhook_endpoint w set position = least(w.position, first.id - 1)
       from first where w.id = $2::int and w.account_id = $1::int and first.id is not null
       returning w.account_id, w.event_types, w.table_definition_ids, first.id as first
     )
     select count(*) as events from e join account_event v on v.account_id = e.account_id and v.id >= e.first
     where ${hasChosen}`,
    [accountId, endpointId, since.toISOString()],
  );
  return Number(rows[0]?.events);
}
