// Changes of an account's books: by administrators (overage), operators (everything) and events of
// the payment provider (payments/). The transaction of a change also writes its event to gateways,
// its audit entry and its mail.
import { randomUUID } from 'node:crypto';
import type { AccountBilling__Output as AccountBilling } from '@almanac/protos/generated/almanac/billing/v1/AccountBilling.ts';
import type { UpdateAccountBillingRequest__Output as UpdateRequest } from '@almanac/protos/generated/almanac/billing/v1/UpdateAccountBillingRequest.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { announceAct, updatedAct } from '@almanac/service-kit/messaging/audit';
import { announce } from '@almanac/service-kit/messaging/outbox';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import type { BillingContext } from '../context.ts';
import { booksNotOpen, periodStartSql, readAccountBilling, requirePlan } from './account-billing.ts';
import {
  addBillingEvent,
  type BillingEvent,
  type BillingState,
  type NewBillingEvent,
  readBillingState,
} from './billing-history.ts';
import { notifyOnce } from './notices.ts';
import { billingStatuses, graceSeconds } from './plans.ts';

/** The source of a change: a call, or a message of the payment provider. */
export type Actor = Pick<CallContext, 'accountId' | 'requestId'> &
  Partial<Pick<CallContext, 'userId' | 'applicationId' | 'address'>>;

export type Books = BillingState & { account_id: number; overage_enabled: boolean; storage_bytes: number | null };

/** Applies an operator's changes, or an administrator's (through identity: overage only). */
export async function updateAccountBilling(
  ctx: BillingContext,
  call: CallContext,
  changes: UpdateRequest,
): Promise<AccountBilling> {
  const named = namedChanges(changes);
  if (call.issuer !== 'operator' && Object.keys(named).some((name) => name !== 'overage_enabled'))
    throw new ServiceError('forbidden', {
      code: 'missing_right',
      message: 'Only an operator may change plan, status, allowance and storage.',
    });
  return withTransaction(ctx.pool, async (sql) => {
    const before = await lockBooks(sql, call.accountId);
    if (!before) throw booksNotOpen();
    const event = readOperatorEvent(before, named);
    const state = event ? await applyBillingEvent(sql, before, event) : before;
    const overage_enabled = named.overage_enabled ?? before.overage_enabled;
    const storage_bytes = named.storage_bytes ?? storageAfter(before, state ?? before);
    await writeBooks(sql, call, before, { ...before, ...state, overage_enabled, storage_bytes });
    return readAccountBilling(sql, call.accountId);
  });
}

/**
 * The storage agreed for the account. A change of plan resets it to the plan's, like the allowance.
 */
export function storageAfter(before: Books, after: Pick<BillingState, 'plan'>): number | null {
  return after.plan === before.plan ? before.storage_bytes : null;
}

/** Reads the books and locks their row until the transaction ends. */
export async function lockBooks(sql: Sql, accountId: number): Promise<Books | undefined> {
  const { rows } = await sql(
    `select account_id, plan, allowance, billing_status, overdue_since, overage_enabled, storage_bytes
     from account_subscription where account_id = $1 for update`,
    [accountId],
  );
  return rows[0] as Books | undefined;
}

/** Writes the changed books with their event, audit entry and mail. The caller holds the lock. */
export async function writeBooks(sql: Sql, actor: Actor, before: Books, after: Books): Promise<void> {
  const { accountId, requestId } = actor;
  await sql(
    `update account_subscription
     set plan = $2, allowance = $3, billing_status = $4, overdue_since = $5, overage_enabled = $6,
         storage_bytes = $7, updated_at = now()
     where account_id = $1`,
    [
      accountId,
      after.plan,
      after.allowance,
      after.billing_status,
      after.overdue_since,
      after.overage_enabled,
      after.storage_bytes,
    ],
  );
  if (after.plan !== before.plan || after.allowance !== before.allowance)
    await sql('insert into plan_change (account_id, plan, allowance, since) values ($1, $2, $3, clock_timestamp())', [
      accountId,
      after.plan,
      after.allowance,
    ]);
  if (after.allowance !== before.allowance)
    await sql(
      `update monthly_usage set announced_percent = 0 where account_id = $1 and period_start = ${periodStartSql}`,
      [accountId],
    );
  await announce(sql, { type: 'billing.account.changed', payload: { account_id: accountId }, requestId });
  await announceAct(sql, 'billing', actor, updatedAct('account', auditedFields(before), auditedFields(after)));
  if (after.billing_status === 'overdue' && before.billing_status !== 'overdue') await notifyOverdue(sql, actor, after);
}

async function notifyOverdue(sql: Sql, { accountId, requestId }: Actor, { overdue_since }: Books): Promise<void> {
  const since = overdue_since as Date;
  const { rows } = await sql(`select ${periodStartSql} as period_start`);
  await notifyOnce(sql, {
    accountId,
    periodStart: rows[0]?.period_start,
    kind: 'overdue',
    values: {
      overdue_since: since.toISOString(),
      writes_blocked_from: new Date(since.getTime() + graceSeconds * 1000).toISOString(),
    },
    requestId,
  });
}

/** Compares the values of two states. */
export function isSameState(one: BillingState, other: BillingState): boolean {
  return (
    one.plan === other.plan &&
    one.allowance === other.allowance &&
    one.billing_status === other.billing_status &&
    one.overdue_since?.getTime() === other.overdue_since?.getTime()
  );
}

/**
 * Adds an event and returns the account's state after it; undefined for an event that is a repeat.
 */
export async function applyBillingEvent(
  sql: Sql,
  before: Books,
  event: NewBillingEvent,
): Promise<BillingState | undefined> {
  await recordUnloggedChange(sql, before);
  if (!(await addBillingEvent(sql, before.account_id, event))) return undefined;
  return readBillingState(sql, before.account_id, before);
}

// During a rolling upgrade an instance of an earlier release may have changed the books without an
// event. Such a change becomes an event here.
async function recordUnloggedChange(sql: Sql, before: Books): Promise<void> {
  const logged = await readBillingState(sql, before.account_id, before);
  if (isSameState(logged, before)) return;
  const isPaymentLogged =
    logged.billing_status === before.billing_status &&
    logged.overdue_since?.getTime() === before.overdue_since?.getTime();
  const isPlanLogged = logged.plan === before.plan && logged.allowance === before.allowance;
  await addBillingEvent(sql, before.account_id, {
    source: 'operator',
    id: randomUUID(),
    type: 'account.found',
    billing_status: isPaymentLogged ? null : before.billing_status,
    overdue_since: isPaymentLogged ? null : before.overdue_since,
    plan: isPlanLogged ? null : before.plan,
    allowance: isPlanLogged ? null : before.allowance,
  });
}

// The audit log shows the books as part of the account.
function auditedFields({ account_id: id, plan, allowance, billing_status, overage_enabled, ...books }: Books) {
  const { overdue_since, storage_bytes } = books;
  return { id, plan, allowance, billing_status, overage_enabled, overdue_since, storage_bytes };
}

type Changes = {
  plan?: string;
  allowance?: number;
  billing_status?: string;
  overdue_since?: string;
  overage_enabled?: boolean;
  storage_bytes?: number;
};

// Unset fields of a proto are absent or undefined, depending on which side created the object.
function namedChanges(changes: UpdateRequest): Changes {
  const { overage_enabled, plan, billing_status, overdue_since, allowance, storage_bytes } = changes;
  const all = { overage_enabled, plan, billing_status, overdue_since, allowance, storage_bytes };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

// The event of an operator's changes; undefined when only overage changes. Throws 422 with all
// problems.
function readOperatorEvent(present: Books, changes: Changes): NewBillingEvent | undefined {
  const problems: Problem[] = [];
  const { overdue_since: since, allowance, storage_bytes: storage } = changes;
  const status = changes.billing_status ?? (since ? 'overdue' : undefined);
  const known = billingStatuses.find((name) => name === (status ?? present.billing_status));
  if (!known)
    problems.push({
      code: 'not_in_list',
      message: `Billing status must be one of ${billingStatuses.join(', ')}`,
      field: 'billing_status',
      params: { allowed: billingStatuses },
    });
  if (since && Number.isNaN(Date.parse(since)))
    problems.push({ code: 'wrong_format', message: 'Overdue since must be an ISO 8601 time', field: 'overdue_since' });
  if (since && known !== 'overdue')
    problems.push({
      code: 'incompatible',
      message: 'Overdue since goes with the status overdue only',
      field: 'overdue_since',
    });
  if (allowance !== undefined && (!Number.isSafeInteger(allowance) || allowance < 0))
    problems.push({
      code: 'out_of_range',
      message: 'Allowance must be a whole number, zero or more',
      field: 'allowance',
      params: { minimum: 0 },
    });
  if (storage !== undefined && (!Number.isSafeInteger(storage) || storage < 0))
    problems.push({
      code: 'out_of_range',
      message: 'Storage bytes must be a whole number, zero or more',
      field: 'storage_bytes',
      params: { minimum: 0 },
    });
  if (problems.length > 0) throw validationFailed(problems);
  const event: Omit<BillingEvent, 'occurred_at' | 'source'> = {
    billing_status: status === undefined ? null : (known ?? null),
    overdue_since: since ? new Date(since) : null,
    plan: changes.plan === undefined ? null : requirePlan(changes.plan),
    allowance: allowance ?? null,
  };
  if (Object.values(event).every((value) => value === null)) return undefined;
  return { source: 'operator', id: randomUUID(), type: 'account.updated', ...event };
}
