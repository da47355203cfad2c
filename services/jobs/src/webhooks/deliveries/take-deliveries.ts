// Takes deliveries to send, under a lease. Taking, renewing and recording are single conditional
// statements, so instances can share the table and may fail at any point.
import { pgSql, withTransaction } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { eventJsonSql, eventTimeSql } from '../../events/read-events.ts';
import { triedForDays } from './retry-times.ts';

/** A delivery that this process has taken, with all that sending needs. */
export type TakenDelivery = {
  id: number;
  account_id: number;
  endpoint_id: number;
  message_id: string;
  event_type: string;
  attempts: number;
  run_id: string;
  created_at: Date;
  url: string;
  secret: Buffer;
  previous_secret: Buffer | null;
  /** The event as JSON; null for a test, and once the log has removed it. */
  event: string | null;
  is_test: boolean;
  include_rows: boolean;
  /** The last attempt for the endpoint has failed. */
  is_failing: boolean;
};

export type TakingLimits = {
  perAccount: number;
  perEndpoint: number;
};

/** How many may be taken, and how many more of accounts to which nothing is being sent. */
export type Capacity = { free: number; spare: number };

// Standard Webhooks has the time under its own name, too.
const messageSql = eventJsonSql('v', `'timestamp', ${eventTimeSql('v')},`);

/**
 * Takes deliveries that are due. Of one endpoint and one table only the oldest may be sent, so that
 * their order is kept; an endpoint that fails gets one message at a time. Accounts take turns, and
 * have a limit: receivers that don't answer hold up deliveries of their own account at most, and
 * endpoints that fail have half of its places, so that they hold up no other for long.
 */
export async function takeDeliveries(
  pool: pg.Pool,
  { free, spare }: Capacity,
  { perAccount, perEndpoint }: TakingLimits,
  leaseMs: number,
): Promise<TakenDelivery[]> {
  return withTransaction(pool, async (sql) => {
    await sql(`select pg_advisory_xact_lock(hashtext('jobs.webhooks.take'))::text`);
    // `head` jumps through the index from one endpoint and table to the next.
    const { rows } = await sql(
      `with recursive head as (
         (select endpoint_id, resource, id from webhook_delivery where status = 'pending'
          order by endpoint_id, resource, id limit 1)
         union all
         select next.* from head h cross join lateral (
           select endpoint_id, resource, id from webhook_delivery d
           where d.status = 'pending' and (d.endpoint_id, d.resource) > (h.endpoint_id, h.resource)
           order by endpoint_id, resource, id limit 1
         ) next
       ), sending as (
         select d.account_id, d.endpoint_id, e.failing_since is not null as is_failing
         from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
         where d.run_id is not null and d.lease_until >= now()
       ), of_endpoint as (
         select endpoint_id, count(*) as sent from sending group by endpoint_id
       ), of_account as (
         select account_id, count(*) as sent, count(*) filter (where is_failing) as failing from sending group by account_id
       ), due as (
         select d.id, d.account_id, d.next_attempt_at, e.failing_since is not null as is_failing,
           row_number() over (partition by d.endpoint_id order by d.next_attempt_at, d.id) + coalesce(s.sent, 0) as turn,
           case when e.failing_since is null then $4::int else 1 end as most
         from head h join webhook_delivery d on d.id = h.id join webhook_endpoint e on e.id = d.endpoint_id
           left join of_endpoint s on s.endpoint_id = d.endpoint_id
         where e.enabled and d.next_attempt_at <= now() and (d.lease_until is null or d.lease_until < now())
       ), of_their_share as (
         select due.*, coalesce(s.sent, 0) as sent, not due.is_failing or coalesce(s.failing, 0)
           + row_number() over (partition by due.account_id, due.is_failing order by due.next_attempt_at, due.id) <= $3::int / 2
           as has_place
         from due left join of_account s on s.account_id = due.account_id where due.turn <= due.most
       ), waiting as (
         select id, next_attempt_at, row_number() over (partition by account_id order by next_attempt_at, id) + sent as turn
         from of_their_share where has_place
       ), next as (
         select id, turn, row_number() over (order by turn, next_attempt_at, id) as place from waiting where turn <= $3::int
       ), taken as (
         update webhook_delivery d set run_id = gen_random_uuid(), lease_until = now() + make_interval(secs => $5::float8 / 1000),
           attempts = attempts + 1, last_attempt_at = now(),
           give_up_at = coalesce(give_up_at, now() + make_interval(days => $6::int))
         from next where d.id = next.id and (place <= $1::int or (turn = 1 and place <= $1::int + $2::int))
         returning d.*
       )
       select t.id, t.account_id, t.endpoint_id, t.message_id, t.event_type, t.attempts, t.run_id, t.created_at,
         t.event_id is null as is_test, e.failing_since is not null as is_failing, e.include_rows, e.url, e.secret,
         case when e.previous_secret_until > now() then e.previous_secret end as previous_secret,
         case when v.id is not null then ${messageSql}::text end as event
       from taken t join webhook_endpoint e on e.id = t.endpoint_id left join account_event v on v.id = t.event_id
       order by t.id`,
      [free, spare, perAccount, perEndpoint, leaseMs, triedForDays],
    );
    return rows as TakenDelivery[];
  });
}

/** Renews the leases of what is being sent. */
export async function renewLeases(pool: pg.Pool, runIds: readonly string[], leaseMs: number): Promise<void> {
  await pgSql(pool)(
    `update webhook_delivery set lease_until = now() + make_interval(secs => $2::float8 / 1000)
     where run_id = any($1::uuid[])`,
    [runIds, leaseMs],
  );
}

/** Gives deliveries back that were not sent after all: the attempt does not count. */
export async function giveBack(pool: pg.Pool, { id, run_id }: Pick<TakenDelivery, 'id' | 'run_id'>): Promise<void> {
  await pgSql(pool)(
    `update webhook_delivery set run_id = null, lease_until = null, attempts = attempts - 1 where id = $1::bigint and run_id = $2::uuid`,
    [id, run_id],
  );
}

/**
 * Milliseconds until there is something to take again; undefined when nothing waits. What is due
 * and yet was not taken waits for its turn, for at most a second.
 */
export async function readNextDue(pool: pg.Pool): Promise<number | undefined> {
  const { rows } = await pgSql(pool)(
    `select extract(epoch from least(
       (select min(next_attempt_at) from webhook_delivery where status = 'pending' and next_attempt_at > now()),
       (select min(lease_until) from webhook_delivery where run_id is not null),
       (select now() + interval '1 second' where exists (
          select from webhook_delivery where status = 'pending' and next_attempt_at <= now()))
     ) - now())::float8 * 1000 as ms`,
  );
  return rows[0]?.ms ?? undefined;
}

/** For how many seconds the oldest delivery has been waiting; 0 without one. */
export async function readOldestWait(pool: pg.Pool): Promise<number> {
  const { rows } = await pgSql(pool)(
    `select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
     from webhook_delivery where status = 'pending'`,
  );
  return rows[0]?.seconds;
}
