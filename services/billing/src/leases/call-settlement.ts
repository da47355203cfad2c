// Books the calls that gateways report. A report is identified by lease and sequence number, and
// booked once. Served calls are booked even when their lease has expired, because the customer got
// the answers.
import type { CallCount__Output as CallCount } from '@almanac/protos/generated/almanac/billing/v1/CallCount.ts';
import type { SettleCallsRequest__Output as SettleRequest } from '@almanac/protos/generated/almanac/billing/v1/SettleCallsRequest.ts';
import type { SettleCallsResponse__Output as SettleResponse } from '@almanac/protos/generated/almanac/billing/v1/SettleCallsResponse.ts';
import { idSchema, readParameters } from '@almanac/service-kit/api/input';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { announce } from '@almanac/service-kit/messaging/outbox';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { daySchema } from '@almanac/service-kit/text/instants';
import { z } from 'zod';
import { periodStartSql } from '../accounts/account-billing.ts';
import { notifyOnce } from '../accounts/notices.ts';
import type { BillingContext } from '../context.ts';

const count = z.int().min(0).max(1_000_000_000);
const reportSchema = z.object({
  lease_id: z.uuid(),
  sequence: z.int().positive(),
  served: z
    .array(
      z.object({
        day: daySchema,
        method: z.string().regex(/^[A-Z]{3,7}$/),
        resource: z.string().regex(/^[a-z_]{1,64}$/),
        calls: count,
        application_id: z.union([z.literal(0), idSchema]),
      }),
    )
    .max(10_000),
  release: z.boolean(),
  give_back: count,
});

type Report = z.output<typeof reportSchema>;
type Lease = {
  id: string;
  period_start: string;
  granted: number;
  settled: number;
  last_sequence: number;
  overage_rate_id: number | null;
  closed: boolean;
};

/** Books a report of served calls, and renews or closes its lease. */
export async function settleCalls(
  ctx: BillingContext,
  call: CallContext,
  request: SettleRequest,
): Promise<SettleResponse> {
  const report = readParameters(reportSchema, request);
  const open = await withTransaction(ctx.pool, async (sql) => {
    const lease = await lockLease(sql, call.accountId, report.lease_id);
    if (report.sequence <= lease.last_sequence) return !lease.closed;
    return book(sql, call, lease, report, ctx.leaseSeconds);
  });
  return { lease_open: open, expires_in_seconds: open ? ctx.leaseSeconds : 0 };
}

async function lockLease(sql: Sql, accountId: number, id: string): Promise<Lease> {
  const read = () =>
    sql(
      `select id, period_start, granted, settled, last_sequence, overage_rate_id, closed_at is not null as closed
       from call_lease where id = $1 and account_id = $2 for update`,
      [id, accountId],
    );
  const found = await read();
  if (found.rows[0]) return found.rows[0] as Lease;
  // The lease of a gateway's grace: granted by the gateway while billing was unreachable. It is
  // closed from the start and has no granted calls.
  await sql(
    `insert into call_lease (id, account_id, period_start, gateway_id, granted, expires_at, closed_at)
     select $1, $2, ${periodStartSql}, 'grace', 0, now(), now() on conflict do nothing`,
    [id, accountId],
  );
  const created = await read();
  if (!created.rows[0]) throw notFound('Lease');
  return created.rows[0] as Lease;
}

async function book(sql: Sql, call: CallContext, lease: Lease, report: Report, leaseSeconds: number): Promise<boolean> {
  const served = report.served.reduce((sum, part) => sum + part.calls, 0);
  const unsettled = Math.max(0, lease.granted - lease.settled);
  const fromReserve = lease.closed ? 0 : Math.min(served, unsettled);
  const rest = lease.closed ? 0 : unsettled - fromReserve;
  const givenBack = report.release ? rest : Math.min(report.give_back, rest);
  const open = !lease.closed && !report.release;
  await sql(
    `update call_lease
     set settled = settled + $2, granted = granted - $3, last_sequence = $4,
         expires_at = case when $5 then now() + make_interval(secs => $6::int) else expires_at end,
         closed_at = case when $5 then null else coalesce(closed_at, now()) end
     where id = $1`,
    [lease.id, served, givenBack, report.sequence, open, leaseSeconds],
  );
  await bookMonth(sql, call, lease, served, fromReserve + givenBack);
  await bookDays(sql, call.accountId, lease.period_start, report.served);
  return open;
}

async function bookMonth(sql: Sql, call: CallContext, lease: Lease, served: number, unreserved: number): Promise<void> {
  if (served === 0 && unreserved === 0) return;
  await sql(
    'insert into monthly_usage (account_id, period_start) values ($1, $2) on conflict do nothing', // a month with calls of the grace only
    [call.accountId, lease.period_start],
  );
  const { rows } = await sql(
    `select u.calls, u.announced_percent, s.allowance, s.overage_enabled
     from monthly_usage u join account_subscription s on s.account_id = u.account_id
     where u.account_id = $1 and u.period_start = $2 for update of u`,
    [call.accountId, lease.period_start],
  );
  const before = rows[0] as (Omit<MonthUsage, 'period'> & { announced_percent: number }) | undefined;
  if (!before) throw notFound('Account');
  const calls = before.calls + served;
  const beyond = Math.min(served, Math.max(0, calls - before.allowance));
  const overage = lease.overage_rate_id === null ? 0 : beyond;
  const threshold = reachedThreshold(calls, before.allowance);
  await sql(
    `update monthly_usage
     set calls = calls + $3, reserved = reserved - $4, overage_calls = overage_calls + $5,
         announced_percent = greatest(announced_percent, $6)
     where account_id = $1 and period_start = $2`,
    [call.accountId, lease.period_start, served, unreserved, overage, threshold],
  );
  if (overage > 0)
    await sql(
      `insert into overage_line (account_id, period_start, overage_rate_id, calls) values ($1, $2, $3, $4)
       on conflict (account_id, period_start, overage_rate_id) do update set calls = overage_line.calls + excluded.calls`,
      [call.accountId, lease.period_start, lease.overage_rate_id, overage],
    );
  if (threshold !== 0 && threshold > before.announced_percent)
    await announceThreshold(sql, call, threshold, { ...before, calls, period: lease.period_start });
}

type MonthUsage = { calls: number; allowance: number; overage_enabled: boolean; period: string };

async function announceThreshold(
  sql: Sql,
  { accountId, requestId }: CallContext,
  percent: 80 | 100,
  usage: MonthUsage,
) {
  const { calls, allowance, overage_enabled, period: period_start } = usage;
  const values = { percent, calls, allowance, period_start };
  await announce(sql, { type: 'billing.allowance.reached', payload: { account_id: accountId, ...values }, requestId });
  await notifyOnce(sql, {
    accountId,
    periodStart: period_start,
    kind: `allowance_${percent}`,
    values: { ...values, overage_enabled },
    requestId,
  });
}

const reachedThreshold = (calls: number, allowance: number): 0 | 80 | 100 =>
  calls >= allowance ? 100 : calls * 100 >= allowance * 80 ? 80 : 0;

// A call counts in the month of its lease. A day outside of it, by a gateway's clock, becomes the
// nearest day of the month.
async function bookDays(sql: Sql, accountId: number, periodStart: string, served: CallCount[]): Promise<void> {
  const parts = served.filter((part) => part.calls > 0);
  if (parts.length === 0) return;
  await sql(
    `insert into daily_usage (account_id, day, method, resource, application_id, calls)
     select $1, greatest($2::date, least(day, ($2::date + interval '1 month')::date - 1)) as day, method, resource,
            application_id, sum(calls)
     from unnest($3::date[], $4::text[], $5::text[], $6::int[], $7::bigint[]) as part(day, method, resource, application_id, calls)
     group by 2, 3, 4, 5
     on conflict (account_id, day, method, resource, application_id)
     do update set calls = daily_usage.calls + excluded.calls`,
    [
      accountId,
      periodStart,
      parts.map((part) => part.day),
      parts.map((part) => part.method),
      parts.map((part) => part.resource),
      parts.map((part) => part.application_id),
      parts.map((part) => part.calls),
    ],
  );
}
