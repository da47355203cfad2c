// The books of an account: opened once, read by gateways and identity, changed by its administrators (overage) and operators.
import type { AccountBilling__Output as AccountBilling } from '@almanac/protos/generated/almanac/billing/v1/AccountBilling.ts';
import type { UpdateAccountBillingRequest__Output as UpdateRequest } from '@almanac/protos/generated/almanac/billing/v1/UpdateAccountBillingRequest.ts';
import { announceAct, updatedAct } from '@almanac/service-kit/audit';
import type { CallContext } from '@almanac/service-kit/call-context';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/database';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { announce } from '@almanac/service-kit/outbox';
import type { BillingContext } from './context.ts';
import { billingStatuses, type PlanName, planNames, plans, writeBlock } from './plans.ts';

/** The month by the clock of the database, which alone decides it. */
export const periodStartSql = `date_trunc('month', now() at time zone 'UTC')::date`;

/** Columns `toAccountBilling` needs, over account_subscription s and monthly_usage u. */
export const billingColumnsSql = `
  s.plan, s.billing_status, s.overdue_since, s.overage_enabled, s.allowance,
  extract(epoch from now() - s.overdue_since)::float8 as overdue_seconds,
  coalesce(u.calls, 0) as calls, coalesce(u.overage_calls, 0) as overage_calls`;

type BillingRow = {
  plan: PlanName;
  billing_status: string;
  overdue_since: Date | null;
  overage_enabled: boolean;
  allowance: number;
  overdue_seconds: number | null;
  calls: number;
  overage_calls: number;
  period_start: string;
  period_end: string;
};

/** A day of the database as the first instant of it. */
export const asInstant = (day: string) => `${day}T00:00:00.000Z`;

/** What is told of an account, from a row with `billingColumnsSql` and the period. */
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
  };
}

/** Not a 404: the account exists, the event that opens its books is on its way. */
export const booksNotOpen = () =>
  new ServiceError('unavailable', 'The books of this account are not open yet; try again.');

/** Opens the books of an account; when they are open already nothing changes. */
export async function openAccount(sql: Sql, accountId: number, plan: string): Promise<void> {
  const name = requirePlan(plan || 'free');
  await sql(
    `insert into account_subscription (account_id, plan, allowance, updated_at) values ($1, $2, $3, now())
     on conflict (account_id) do nothing`,
    [accountId, name, plans[name].allowance],
  );
}

/** Plan, state and this month's usage. */
export function getAccountBilling(ctx: BillingContext, call: Pick<CallContext, 'accountId'>): Promise<AccountBilling> {
  return readAccountBilling(pgSql(ctx.pool), call.accountId);
}

async function readAccountBilling(sql: Sql, accountId: number): Promise<AccountBilling> {
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

/** Changes what the caller may change and tells everybody who remembers it. Identity speaks for administrators: overage only. */
export async function updateAccountBilling(
  ctx: BillingContext,
  call: CallContext,
  changes: UpdateRequest,
): Promise<AccountBilling> {
  const named = namedChanges(changes);
  if (call.issuer !== 'operator' && Object.keys(named).some((name) => name !== 'overage_enabled'))
    throw new ServiceError('forbidden', 'Only an operator may change plan, status and allowance.');
  return withTransaction(ctx.pool, async (sql) => {
    const present = await sql('select * from account_subscription where account_id = $1 for update', [call.accountId]);
    const before = present.rows[0] as Subscription | undefined;
    if (!before) throw booksNotOpen();
    const next = plannedSubscription(before, named);
    const { rows } = await sql(
      `update account_subscription
       set plan = $2, allowance = $3, billing_status = $4, overage_enabled = $5, updated_at = now(),
           overdue_since = case when $4 <> 'overdue' then null else coalesce($6::timestamptz, overdue_since, now()) end
       where account_id = $1 returning *`,
      [call.accountId, next.plan, next.allowance, next.billing_status, next.overage_enabled, next.overdue_since],
    );
    if (next.allowance !== before.allowance)
      await sql(
        `update monthly_usage set announced_percent = 0 where account_id = $1 and period_start = ${periodStartSql}`,
        [call.accountId],
      );
    await announce(sql, {
      type: 'billing.account.changed',
      payload: { account_id: call.accountId },
      requestId: call.requestId,
    });
    await announceAct(sql, 'billing', call, updatedAct('account', recorded(before), recorded(rows[0] as Subscription)));
    return readAccountBilling(sql, call.accountId);
  });
}

type Subscription = {
  account_id: number;
  plan: PlanName;
  allowance: number;
  billing_status: string;
  overage_enabled: boolean;
  overdue_since: Date | null;
};
type Changes = Partial<
  Omit<Subscription, 'account_id' | 'plan' | 'overdue_since'> & { plan: string; overdue_since: string }
>;

// What the audit log keeps of the books: they are part of the account.
function recorded({ account_id: id, plan, allowance, billing_status, overage_enabled, overdue_since }: Subscription) {
  return { id, plan, allowance, billing_status, overage_enabled, overdue_since };
}

// Fields of a proto that are not set are absent or undefined, depending on who made the object.
function namedChanges(changes: UpdateRequest): Changes {
  const { overage_enabled, plan, billing_status, overdue_since, allowance } = changes;
  const all = { overage_enabled, plan, billing_status, overdue_since, allowance };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function plannedSubscription(present: Subscription, changes: Changes) {
  const problems: string[] = [];
  const status = changes.billing_status ?? (changes.overdue_since ? 'overdue' : present.billing_status);
  if (!billingStatuses.some((known) => known === status))
    problems.push(`Billing status must be one of ${billingStatuses.join(', ')}`);
  if (changes.overdue_since && Number.isNaN(Date.parse(changes.overdue_since)))
    problems.push('Overdue since must be an ISO 8601 time');
  if (changes.overdue_since && status !== 'overdue') problems.push('Overdue since goes with the status overdue only');
  if (changes.allowance !== undefined && (!Number.isSafeInteger(changes.allowance) || changes.allowance < 0))
    problems.push('Allowance must be a whole number, zero or more');
  if (problems.length > 0) throw validationFailed(problems);
  const plan = changes.plan === undefined ? present.plan : requirePlan(changes.plan);
  const ofPlan = plan === present.plan ? present.allowance : plans[plan].allowance;
  return {
    plan,
    allowance: changes.allowance ?? ofPlan,
    billing_status: status,
    overage_enabled: changes.overage_enabled ?? present.overage_enabled,
    overdue_since: changes.overdue_since ? new Date(changes.overdue_since).toISOString() : null,
  };
}

function requirePlan(plan: string): PlanName {
  const known = planNames.find((name) => name === plan);
  if (!known) throw validationFailed(`Plan must be one of ${planNames.join(', ')}`);
  return known;
}
