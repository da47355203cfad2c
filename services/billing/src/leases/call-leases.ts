// Call leases: gateways reserve some calls at a time and report those they served. Each grant is
// one conditional UPDATE of the account's row for the month, so all gateways of an account never
// get more than the allowance.
import type { ReserveCallsRequest__Output as ReserveRequest } from '@almanac/protos/generated/almanac/billing/v1/ReserveCallsRequest.ts';
import type { ReserveCallsResponse__Output as ReserveResponse } from '@almanac/protos/generated/almanac/billing/v1/ReserveCallsResponse.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import {
  asInstant,
  billingColumnsSql,
  booksNotOpen,
  periodStartSql,
  toAccountBilling,
} from '../accounts/account-billing.ts';
import type { BillingContext } from '../context.ts';

const maxLease = 5_000;

// A grant is at most an eighth of the remaining calls: the last calls of a month are granted one by
// one, so that no gateway holds calls that another one needs. With overage there is no such limit.
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

/**
 * Grants a gateway up to `wanted` calls of the account's month, fewer near the limit, none at it.
 */
export async function reserveCalls(
  ctx: BillingContext,
  call: Pick<CallContext, 'accountId'>,
  request: Pick<ReserveRequest, 'gateway_id' | 'wanted'>,
): Promise<ReserveResponse> {
  if (!/^[\w.:-]{1,100}$/.test(request.gateway_id))
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'gateway_id is malformed.',
      field: 'gateway_id',
    });
  const wanted = Math.min(Math.max(request.wanted, 1), maxLease);
  const sql = pgSql(ctx.pool);
  const values = [call.accountId, wanted, request.gateway_id, ctx.leaseSeconds];
  let { rows } = await sql(reserveSql, values);
  if (rows.length === 0) {
    await openMonth(sql, call.accountId);
    ({ rows } = await sql(reserveSql, values));
  }
  if (rows[0]?.last_grant === 0 && (await reclaimExpiredLeases(sql, call.accountId)) > 0)
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
 * Closes an account's expired leases and returns their calls to the allowance; returns how many
 * leases were closed. Calls that were served and not reported are not counted, unless the report
 * still arrives.
 */
export async function reclaimExpiredLeases(sql: Sql, accountId: number): Promise<number> {
  const { rows } = await sql(
    `with expired as (
       select id from call_lease
       where account_id = $1 and closed_at is null and expires_at < now()
       for update skip locked
     ), closed as (
       update call_lease l set closed_at = now() from expired where l.id = expired.id
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
 * Renews all open leases after billing itself was unreachable. Gateways could not report then, and
 * calls that they served must not be granted a second time before they can.
 */
export async function renewLeases(sql: Sql, leaseSeconds: number): Promise<void> {
  // A locked lease is being reported on, which renews it as well.
  await sql(
    `update call_lease l set expires_at = greatest(l.expires_at, now() + make_interval(secs => $1::int))
     from (select id from call_lease where closed_at is null for update skip locked) open where l.id = open.id`,
    [leaseSeconds],
  );
}

/** Accounts with expired leases. */
export async function listAccountsWithExpiredLeases(sql: Sql, limit: number): Promise<number[]> {
  const { rows } = await sql(
    `select distinct account_id from call_lease where closed_at is null and expires_at < now() limit $1`,
    [limit],
  );
  return rows.map((row) => row.account_id);
}

/** Deletes leases that closed three days ago; gateways no longer repeat reports about them. */
export async function deleteOldLeases(sql: Sql): Promise<void> {
  await sql(`delete from call_lease where closed_at < now() - interval '3 days'`);
}
