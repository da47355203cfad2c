// The books of an account: its plan, payment and usage. Opened once, read by gateways and identity.
import type { AccountBilling__Output as AccountBilling } from '@almanac/protos/generated/almanac/billing/v1/AccountBilling.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type { BillingContext } from '../context.ts';
import { type PlanName, planNames, plans, writeBlock } from './plans.ts';

/** The first day of the present month. Only the database's clock decides it. */
export const periodStartSql = `date_trunc('month', now() at time zone 'UTC')::date`;

/** The columns of `toAccountBilling`, from account_subscription s and monthly_usage u. */
export const billingColumnsSql = `
  s.plan, s.billing_status, s.overdue_since, s.overage_enabled, s.allowance, s.storage_bytes,
  extract(epoch from now() - s.overdue_since)::float8 as overdue_seconds,
  coalesce(u.calls, 0) as calls, coalesce(u.overage_calls, 0) as overage_calls`;

type BillingRow = {
  plan: PlanName;
  billing_status: string;
  overdue_since: Date | null;
  overage_enabled: boolean;
  allowance: number;
  storage_bytes: number | null;
  overdue_seconds: number | null;
  calls: number;
  overage_calls: number;
  period_start: string;
  period_end: string;
};

/** The first instant of a day of the database. */
export const asInstant = (day: string) => `${day}T00:00:00.000Z`;

/** The answer about an account, from a row with `billingColumnsSql` and the period. */
export function toAccountBilling(row: BillingRow): AccountBilling {
  const writes = writeBlock(row.billing_status, row.overdue_seconds);
  return {
    plan: row.plan,
    billing_status: row.billing_status,
    overdue_since: row.overdue_since?.toISOString() ?? '',
    writes_blocked: writes.blocked,
    writes_blocked_in_seconds: writes.inSeconds,
    overage_enabled: row.overage_enabled,
    branching_enabled: plans[row.plan].branching,
    allowance: row.allowance,
    period_start: asInstant(row.period_start),
    period_end: asInstant(row.period_end),
    calls: row.calls,
    overage_calls: row.overage_calls,
    storage_bytes: row.storage_bytes ?? plans[row.plan].storageBytes,
  };
}

/** 503 and not 404: the account exists, but the event that opens its books has not arrived yet. */
export const booksNotOpen = () =>
  new ServiceError('unavailable', 'The books of this account are not open yet; retry later.');

/** Opens the books of an account. Idempotent: books that are open stay as they are. */
export async function openAccount(sql: Sql, accountId: number, plan: string): Promise<void> {
  const name = requirePlan(plan || 'free');
  await sql(
    `with opened as (
       insert into account_subscription (account_id, plan, allowance, updated_at) values ($1, $2, $3, now())
       on conflict (account_id) do nothing returning account_id, plan, allowance
     )
     insert into plan_change (account_id, plan, allowance) select account_id, plan, allowance from opened`,
    [accountId, name, plans[name].allowance],
  );
}

/** Plan, billing state and this month's usage. */
export function getAccountBilling(ctx: BillingContext, call: Pick<CallContext, 'accountId'>): Promise<AccountBilling> {
  return readAccountBilling(pgSql(ctx.pool), call.accountId);
}

/** The same inside a transaction. */
export async function readAccountBilling(sql: Sql, accountId: number): Promise<AccountBilling> {
  const { rows } = await sql(
    `select ${billingColumnsSql}, p.period_start, (p.period_start + interval '1 month')::date as period_end
     from account_subscription s
     cross join (select ${periodStartSql} as period_start) p
     left join monthly_usage u on u.account_id = s.account_id and u.period_start = p.period_start
     where s.account_id = $1`,
    [accountId],
  );
  if (!rows[0]) throw booksNotOpen();
  return toAccountBilling(rows[0] as BillingRow);
}

/** The plan of that name; 422 when there is none. */
export function requirePlan(plan: string): PlanName {
  const known = planNames.find((name) => name === plan);
  if (!known)
    throw validationFailed({
      code: 'not_in_list',
      message: `Plan must be one of ${planNames.join(', ')}`,
      field: 'plan',
      params: { allowed: planNames },
    });
  return known;
}
