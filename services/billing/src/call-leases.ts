// Calls by the lease: gateways reserve a few at a time and report what they served. The row of the account's month is the
// only place that decides, under its own lock, so any number of gateways together never get more than the allowance.
import type { ReserveCallsRequest__Output as ReserveRequest } from '@almanac/protos/generated/almanac/billing/v1/ReserveCallsRequest.ts';
import type { ReserveCallsResponse__Output as ReserveResponse } from '@almanac/protos/generated/almanac/billing/v1/ReserveCallsResponse.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { asInstant, billingColumnsSql, booksNotOpen, periodStartSql, toAccountBilling } from './account-billing.ts';
import type { BillingContext } from './context.ts';

const largestLease = 5_000;

// A grant is at most an eighth of what is left, so that the last calls of a month go out one by one and no gateway sits on
// calls another one needs. With overage on there is no end to come near to.
const leftSql = 'greatest(0, s.allowance - u.calls - u.reserved)';
const grantSql = `(case when s.overage_enabled then $2::bigint
                   else least($2::bigint, greatest(least(1, ${leftSql}), ${leftSql} / 8)) end)::int`;

const reserveSql = `
  with granted as (
    update monthly_usage u
    set last_grant = ${grantSql}, reserved = u.reserved + ${grantSql}
    from account_subscription s
    where u.account_id = $1 and u.period_start = ${periodStartSql} and s.account_id = u.account_id
    returning ${billingColumnsSql}, u.account_id, u.period_start, u.last_grant,
              s.allowance - u.calls - u.reserved as remaining
  ), lease as (
    insert into call_lease (id, account_id, period_start, gateway_id, granted, overage_rate_id, expires_at)
    select gen_random_uuid(), g.account_id, g.period_start, $3, g.last_grant,
           case when g.overage_enabled then (
             select r.id from overage_rate r where r.plan = g.plan and r.valid_from <= now()
             order by r.valid_from desc, r.id desc limit 1
           ) end,
           now() + make_interval(secs => $4::int)
    from granted g where g.last_grant > 0
    returning id, expires_at
  )
  select g.*, (g.period_start + interval '1 month')::date as period_end, l.id as lease_id, l.expires_at, now() as server_time,
         extract(epoch from (g.period_start + interval '1 month') at time zone 'UTC' - now())::float8 as ends_in,
         case when g.last_grant > 0 then 0 else (
           select coalesce(sum(greatest(0, o.granted - o.settled)), 0) from call_lease o
           where o.account_id = g.account_id and o.period_start = g.period_start and o.closed_at is null
             and o.gateway_id <> $3
         ) end::bigint as held_elsewhere
  from granted g left join lease l on true`;

/** Grants a gateway up to `wanted` calls of the account's month, fewer near the limit, none at it. */
export async function reserveCalls(
  ctx: BillingContext,
  call: Pick<CallContext, 'accountId'>,
  request: Pick<ReserveRequest, 'gateway_id' | 'wanted'>,
): Promise<ReserveResponse> {
  if (!/^[\w.:-]{1,100}$/.test(request.gateway_id))
    throw new ServiceError('bad_request', 'gateway_id has no good form.');
  const wanted = Math.min(Math.max(request.wanted, 1), largestLease);
  const sql = pgSql(ctx.pool);
  const values = [call.accountId, wanted, request.gateway_id, ctx.leaseSeconds];
  let { rows } = await sql(reserveSql, values);
  if (rows.length === 0) {
    await openMonth(sql, call.accountId);
    ({ rows } = await sql(reserveSql, values));
  }
  if (rows[0]?.last_grant === 0 && (await takeBackExpired(sql, call.accountId)) > 0)
    ({ rows } = await sql(reserveSql, values));
  const row = rows[0];
  if (!row) throw booksNotOpen();
  return {
    lease_id: row.lease_id ?? '',
    granted: row.last_grant,
    expires_at: row.expires_at?.toISOString() ?? '',
    expires_in_seconds: row.lease_id ? ctx.leaseSeconds : 0,
    allowance: row.allowance,
    remaining: row.remaining,
    period_start: asInstant(row.period_start),
    period_end: asInstant(row.period_end),
    period_ends_in_seconds: Math.ceil(row.ends_in),
    billing: toAccountBilling(row as Parameters<typeof toAccountBilling>[0]),
    held_elsewhere: row.held_elsewhere,
    server_time: row.server_time.toISOString(),
  };
}

async function openMonth(sql: Sql, accountId: number): Promise<void> {
  await sql(
    `insert into monthly_usage (account_id, period_start)
     select account_id, ${periodStartSql} from account_subscription where account_id = $1
     on conflict do nothing`,
    [accountId],
  );
}

/**
 * Takes back what gateways that fell silent hold of an account, and answers how many leases that ended. Calls they served
 * and had not reported are not counted, unless the report still comes.
 */
export async function takeBackExpired(sql: Sql, accountId: number): Promise<number> {
  const { rows } = await sql(
    `with silent as (
       select id from call_lease
       where account_id = $1 and closed_at is null and expires_at < now()
       for update skip locked
     ), closed as (
       update call_lease l set closed_at = now() from silent where l.id = silent.id
       returning l.period_start, greatest(0, l.granted - l.settled) as rest
     ), sums as (
       select period_start, sum(rest)::bigint as rest, count(*) as leases from closed group by period_start
     )
     update monthly_usage u set reserved = u.reserved - sums.rest
     from sums where u.account_id = $1 and u.period_start = sums.period_start
     returning sums.leases`,
    [accountId],
  );
  return rows.reduce((sum, row) => sum + row.leases, 0);
}

/**
 * Gives open leases their whole time again, after a time in which no gateway could report: that was no silence of theirs, and
 * calls that were served and are still to be reported must not be granted a second time.
 */
export async function renewLeases(sql: Sql, leaseSeconds: number): Promise<void> {
  // One that is locked is being reported on, which renews it too.
  await sql(
    `update call_lease l set expires_at = greatest(l.expires_at, now() + make_interval(secs => $1::int))
     from (select id from call_lease where closed_at is null for update skip locked) open where l.id = open.id`,
    [leaseSeconds],
  );
}

/** Accounts with leases of silent gateways, for the sweeper. */
export async function listAccountsWithExpired(sql: Sql, limit: number): Promise<number[]> {
  const { rows } = await sql(
    `select distinct account_id from call_lease where closed_at is null and expires_at < now() limit $1`,
    [limit],
  );
  return rows.map((row) => row.account_id);
}

/** Forgets leases that ended days ago; by then no gateway repeats a report about them. */
export async function forgetOldLeases(sql: Sql): Promise<void> {
  await sql(`delete from call_lease where closed_at < now() - interval '3 days'`);
}
