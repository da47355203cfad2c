// Changing the books: by administrators (overage), by operators (everything), by what the payment provider says (payments/).
// Each change is written with the word to gateways, the entry for the audit log and the mail that goes with it.
import { randomUUID } from 'node:crypto';
import type { AccountBilling__Output as AccountBilling } from '@almanac/protos/generated/almanac/billing/v1/AccountBilling.ts';
import type { UpdateAccountBillingRequest__Output as UpdateRequest } from '@almanac/protos/generated/almanac/billing/v1/UpdateAccountBillingRequest.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { announceAct, updatedAct } from '@almanac/service-kit/messaging/audit';
import { announce } from '@almanac/service-kit/messaging/outbox';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { booksNotOpen, periodStartSql, readAccountBilling, requirePlan } from './account-billing.ts';
import type { BillingContext } from './context.ts';
import { notifyOnce } from './notices.ts';
import { type NewWord, readStanding, record, type Said, type Standing } from './payments/billing-history.ts';
import { billingStatuses, graceSeconds } from './plans.ts';

/** Who changes them: a call, or a message of the payment provider. */
export type Actor = Pick<CallContext, 'accountId' | 'requestId'> &
  Partial<Pick<CallContext, 'userId' | 'applicationId' | 'address'>>;

export type Books = Standing & { account_id: number; overage_enabled: boolean; storage_bytes: number | null };

/** Changes what the caller may change. Identity speaks for administrators: overage only. */
export async function updateAccountBilling(
  ctx: BillingContext,
  call: CallContext,
  changes: UpdateRequest,
): Promise<AccountBilling> {
  const named = namedChanges(changes);
  if (call.issuer !== 'operator' && Object.keys(named).some((name) => name !== 'overage_enabled'))
    throw new ServiceError('forbidden', 'Only an operator may change plan, status, allowance and storage.');
  return withTransaction(ctx.pool, async (sql) => {
    const before = await lockBooks(sql, call.accountId);
    if (!before) throw booksNotOpen();
    const word = readWord(before, named);
    const standing = word ? await standingWith(sql, before, word) : before;
    const overage_enabled = named.overage_enabled ?? before.overage_enabled;
    const storage_bytes = named.storage_bytes ?? storageWith(before, standing ?? before);
    await writeBooks(sql, call, before, { ...before, ...standing, overage_enabled, storage_bytes });
    return readAccountBilling(sql, call.accountId);
  });
}

/**
 * The storage agreed for the account; with another plan it is what that one gives, as the allowance
 * is.
 */
export function storageWith(before: Books, after: Pick<Standing, 'plan'>): number | null {
  return after.plan === before.plan ? before.storage_bytes : null;
}

/** Reads the books and keeps others from changing them until the transaction ends. */
export async function lockBooks(sql: Sql, accountId: number): Promise<Books | undefined> {
  const { rows } = await sql(
    `select account_id, plan, allowance, billing_status, overdue_since, overage_enabled, storage_bytes
     from account_subscription where account_id = $1 for update`,
    [accountId],
  );
  return rows[0] as Books | undefined;
}

/** Writes what differs and tells everybody whom it concerns. The caller holds the lock. */
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
  await announceAct(sql, 'billing', actor, updatedAct('account', recorded(before), recorded(after)));
  if (after.billing_status === 'overdue' && before.billing_status !== 'overdue') await tellOverdue(sql, actor, after);
}

async function tellOverdue(sql: Sql, { accountId, requestId }: Actor, { overdue_since }: Books): Promise<void> {
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

/** The same standing, whatever object it is in. */
export function isSameStanding(one: Standing, other: Standing): boolean {
  return (
    one.plan === other.plan &&
    one.allowance === other.allowance &&
    one.billing_status === other.billing_status &&
    one.overdue_since?.getTime() === other.overdue_since?.getTime()
  );
}

/** How the account stands with one more word; undefined when it was said before. */
export async function standingWith(sql: Sql, before: Books, word: NewWord): Promise<Standing | undefined> {
  await keepUntold(sql, before);
  if (!(await record(sql, before.account_id, word))) return undefined;
  return readStanding(sql, before.account_id, before);
}

// A release without the history may have changed the books beside it, while this one was rolled out: that counts too.
async function keepUntold(sql: Sql, before: Books): Promise<void> {
  const told = await readStanding(sql, before.account_id, before);
  if (isSameStanding(told, before)) return;
  const isPaymentTold =
    told.billing_status === before.billing_status && told.overdue_since?.getTime() === before.overdue_since?.getTime();
  const isPlanTold = told.plan === before.plan && told.allowance === before.allowance;
  await record(sql, before.account_id, {
    source: 'operator',
    id: randomUUID(),
    type: 'account.found',
    billing_status: isPaymentTold ? null : before.billing_status,
    overdue_since: isPaymentTold ? null : before.overdue_since,
    plan: isPlanTold ? null : before.plan,
    allowance: isPlanTold ? null : before.allowance,
  });
}

// What the audit log keeps of the books: they are part of the account.
function recorded({ account_id: id, plan, allowance, billing_status, overage_enabled, ...books }: Books) {
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

// Fields of a proto that are not set are absent or undefined, depending on who made the object.
function namedChanges(changes: UpdateRequest): Changes {
  const { overage_enabled, plan, billing_status, overdue_since, allowance, storage_bytes } = changes;
  const all = { overage_enabled, plan, billing_status, overdue_since, allowance, storage_bytes };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

// What an operator says by it; nothing where only overage changes. Throws 422 with every problem.
function readWord(present: Books, changes: Changes): NewWord | undefined {
  const problems: string[] = [];
  const { overdue_since: since, allowance, storage_bytes: storage } = changes;
  const status = changes.billing_status ?? (since ? 'overdue' : undefined);
  const known = billingStatuses.find((name) => name === (status ?? present.billing_status));
  if (!known) problems.push(`Billing status must be one of ${billingStatuses.join(', ')}`);
  if (since && Number.isNaN(Date.parse(since))) problems.push('Overdue since must be an ISO 8601 time');
  if (since && known !== 'overdue') problems.push('Overdue since goes with the status overdue only');
  if (allowance !== undefined && (!Number.isSafeInteger(allowance) || allowance < 0))
    problems.push('Allowance must be a whole number, zero or more');
  if (storage !== undefined && (!Number.isSafeInteger(storage) || storage < 0))
    problems.push('Storage bytes must be a whole number, zero or more');
  if (problems.length > 0) throw validationFailed(problems);
  const said: Omit<Said, 'occurred_at' | 'source'> = {
    billing_status: status === undefined ? null : (known ?? null),
    overdue_since: since ? new Date(since) : null,
    plan: changes.plan === undefined ? null : requirePlan(changes.plan),
    allowance: allowance ?? null,
  };
  if (Object.values(said).every((value) => value === null)) return undefined;
  return { source: 'operator', id: randomUUID(), type: 'account.updated', ...said };
}
