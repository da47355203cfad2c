// Deletes accounts by order of an operator: closed at once, erased after a grace in which the
// account can be restored. Every service erases what it holds when it is asked by a message
// (service-kit/process/account-erasure.ts), and reports; erasure-reports.ts makes the receipt.
//
//   closed ─▶ erasing ─▶ erased        closed ─▶ restored (the row is deleted)
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { auditEntry } from '@almanac/service-kit/messaging/audit';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import type { Part } from '@almanac/service-kit/process/part';
import { periodic } from '@almanac/service-kit/process/periodic';
import { recordEntry } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import type { account_deletion } from '../generated/prisma/client.ts';
import { revokeAccount } from '../tokens/revocations.ts';
import { addSeconds, announce, announceAll, databaseNow, type Transaction, transact } from '../transaction.ts';
import { findWaitingFor, finishDeletions } from './erasure-reports.ts';

type Order = { name: string; grace_days: number; requested_by: string };

const maxGraceDays = 3_650;

/**
 * Closes the account: its tokens are revoked, its users can't log in, its work is cancelled. It is
 * erased after the grace. Repeated, it only brings the end of the grace forward.
 */
export async function deleteAccount(ctx: IdentityContext, call: CallContext, order: Order) {
  requireOrder(order);
  const { accountId, requestId } = call;
  const deletion = await transact(ctx, async (tx) => {
    const account = await lockForDeletion(tx, accountId);
    if (order.name !== account.name)
      throw validationFailed({
        code: 'incompatible',
        message: `To confirm, give the name of account ${accountId}, which is "${account.name}".`,
        field: 'name',
      });
    const now = await databaseNow(tx);
    const erase_after = addSeconds(now, order.grace_days * 86_400);
    const earlier = await tx.account_deletion.findUnique({ where: { account_id: accountId } });
    if (earlier) await bringForward(tx, earlier, erase_after);
    else await close(ctx, tx, { account, order, closed_at: now, erase_after, requestId });
    const after = { requested_by: order.requested_by, erase_after };
    const act = { action: 'account.deleted', resource_type: 'account', resource_id: accountId, after };
    await recordEntry(tx, auditEntry({ accountId, requestId }, act));
    if (order.grace_days === 0) await beginErasure(tx, accountId, requestId);
    return tx.account_deletion.findUniqueOrThrow({ where: { account_id: accountId } });
  });
  ctx.logger.warn(
    { account_id: accountId, erase_after: deletion.erase_after },
    'the account was closed for its deletion',
  );
  return present(ctx, deletion);
}

function requireOrder({ grace_days, requested_by }: Order): void {
  const problems: Problem[] = [];
  if (grace_days < 0 || grace_days > maxGraceDays)
    problems.push({ code: 'out_of_range', message: `Grace must be 0 to ${maxGraceDays} days.`, field: 'grace_days' });
  if (requested_by.trim() === '' || requested_by.length > 255)
    problems.push({
      code: 'out_of_range',
      message: 'Requested by must have 1 to 255 characters.',
      field: 'requested_by',
    });
  if (problems.length > 0) throw validationFailed(problems);
}

type Named = { id: number; name: string };

// Concurrent orders for one account take turns at its row.
async function lockForDeletion(tx: Transaction, accountId: number): Promise<Named> {
  const [account] = await tx.$queryRaw<Named[]>`select id, name from account where id = ${accountId} for update`;
  if (account) return account;
  const deletion = await tx.account_deletion.findUnique({ where: { account_id: accountId } });
  throw deletion ? wrongState(deletion) : notFound('Account');
}

function wrongState({ account_id, status, erase_after, erased_at }: account_deletion): ServiceError {
  const said = {
    closed: `is closed already, and is erased after ${erase_after.toISOString()}; only a shorter grace changes that`,
    erasing: 'is being erased',
    erased: `was erased on ${erased_at?.toISOString()}`,
  }[status];
  return new ServiceError('wrong_state', { code: 'wrong_state', message: `Account ${account_id} ${said}.` });
}

async function bringForward(tx: Transaction, deletion: account_deletion, erase_after: Date): Promise<void> {
  if (deletion.status !== 'closed' || erase_after >= deletion.erase_after) throw wrongState(deletion);
  await tx.account_deletion.update({ where: { account_id: deletion.account_id }, data: { erase_after } });
}

type Closing = { account: Named; order: Order; closed_at: Date; erase_after: Date; requestId: string };

async function close(ctx: IdentityContext, tx: Transaction, closing: Closing): Promise<void> {
  const { account, order, closed_at, erase_after, requestId } = closing;
  await tx.account.update({ where: { id: account.id }, data: { status: 'closed' } });
  const { requested_by } = order;
  await tx.account_deletion.create({
    data: { account_id: account.id, name: account.name, requested_by, request_id: requestId, closed_at, erase_after },
  });
  await revokeAccount(tx, ctx.config, account.id, requestId);
  // Jobs cancels what is under way. Work that began later belongs to a restored account.
  const payload = { closed_at: closed_at.toISOString() };
  await announce(tx, { accountId: account.id, requestId }, 'account.closed', payload);
}

/** Opens a closed account again with all that it had; tokens from before stay revoked. */
export async function restoreAccount(ctx: IdentityContext, call: CallContext): Promise<{ name: string }> {
  const { accountId, requestId } = call;
  return transact(ctx, async (tx) => {
    const { name } = await lockForDeletion(tx, accountId);
    const deletion = await tx.account_deletion.findUnique({ where: { account_id: accountId } });
    if (!deletion)
      throw new ServiceError('wrong_state', {
        code: 'wrong_state',
        message: `Account ${accountId} is not being deleted.`,
      });
    const { count } = await tx.account_deletion.deleteMany({ where: { account_id: accountId, status: 'closed' } });
    if (count === 0) throw wrongState(deletion);
    await tx.account.update({ where: { id: accountId }, data: { status: 'active' } });
    const act = { action: 'account.restored', resource_type: 'account', resource_id: accountId };
    await recordEntry(tx, auditEntry({ accountId, requestId }, act));
    return { name };
  });
}

/** The deletion of the account, with its receipt; not found when it is not being deleted. */
export async function getAccountDeletion(ctx: IdentityContext, accountId: number) {
  const deletion = await ctx.prisma.account_deletion.findUnique({ where: { account_id: accountId } });
  if (!deletion) throw notFound('Deletion of the account');
  return { ...(await present(ctx, deletion)), receipt: deletion.receipt ?? '' };
}

/** All deletions, the latest first. */
export async function listAccountDeletions(ctx: IdentityContext) {
  const deletions = await ctx.prisma.account_deletion.findMany({
    orderBy: [{ closed_at: 'desc' }, { account_id: 'desc' }],
  });
  return Promise.all(deletions.map((deletion) => present(ctx, deletion)));
}

async function present(ctx: IdentityContext, deletion: account_deletion) {
  const { account_id, name, status, requested_by, closed_at, erase_after, erased_at } = deletion;
  return {
    account_id,
    name,
    status,
    requested_by,
    closed_at: closed_at.toISOString(),
    erase_after: erase_after.toISOString(),
    erased_at: erased_at?.toISOString() ?? '',
    waiting_for: status === 'erasing' ? await findWaitingFor(ctx.prisma, account_id) : [],
  };
}

// Asks all services. There is no way back from here.
async function beginErasure(tx: Transaction, accountId: number, requestId: string): Promise<void> {
  const { count } = await tx.account_deletion.updateMany({
    where: { account_id: accountId, status: 'closed' },
    data: { status: 'erasing', asked_at: await databaseNow(tx) },
  });
  if (count > 0) await announce(tx, { accountId, requestId }, 'account_erasure.requested', {});
}

/** Begins, repeats and finishes erasures for as long as identity runs; every instance does it. */
export function createDeletionRounds(ctx: IdentityContext, logger: Logger): Part {
  return periodic({ name: 'account deletions', everyMs: 60_000, logger }, () => sweepDeletions(ctx));
}

/** How long a service may take before it is asked again: its request may be lost with its bus. */
const askAgainMinutes = 10;

/** One round. */
export async function sweepDeletions(ctx: IdentityContext): Promise<void> {
  const due = await ctx.prisma.account_deletion.findMany({
    where: { status: 'closed', erase_after: { lte: await databaseNow(ctx.prisma) } },
  });
  for (const { account_id, request_id } of due) await transact(ctx, (tx) => beginErasure(tx, account_id, request_id));
  await transact(ctx, async (tx) => {
    const { rows } = await prismaSql(tx)(
      `update account_deletion set asked_at = now()
       where status = 'erasing' and asked_at < now() - make_interval(mins => $1::int) returning account_id`,
      [askAgainMinutes],
    );
    await announceAll(tx, {}, 'account_erasure.requested', rows);
  });
  await finishDeletions(ctx);
}
