// Transactions of metadata: tried again when the database asks for it, with the locks and the announcements they share.

import { ServiceError } from '@almanac/service-kit/errors';
import { type AuditAct, announceAct } from '@almanac/service-kit/messaging/audit';
import { announceAll } from '@almanac/service-kit/messaging/outbox';
import { prismaSql, retryTransaction } from '@almanac/service-kit/postgres/database';
import { isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { Context } from './context.ts';
import type { Prisma } from './generated/prisma/client.ts';

export type Transaction = Prisma.TransactionClient;

/** Runs `work` in one transaction; a deadlock runs it again, so it has no effect outside the database. */
export function transact<T>(ctx: Pick<Context, 'prisma'>, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return retryTransaction(() => ctx.prisma.$transaction(work, { maxWait: 5_000, timeout: 20_000 }));
}

/** Reads as of one instant. */
export function readAtOnce<T>(ctx: Pick<Context, 'prisma'>, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return ctx.prisma.$transaction(work, { isolationLevel: 'RepeatableRead', maxWait: 5_000, timeout: 20_000 });
}

/** Runs `work`; a name or key that a unique index finds taken is 422 with this sentence, or with what is found out then. */
export async function refusingTaken<T>(sentence: string | (() => Promise<string>), work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const told = typeof sentence === 'string' ? sentence : await sentence();
    throw new ServiceError('already_exists', told, { cause: error });
  }
}

export const nameTaken = 'Name has already been taken';

// Strength of a row lock: `edit` lets others refer to the row (foreign keys), `remove` doesn't.
const strengths = { edit: 'for no key update', remove: 'for update', read: 'for share' } as const;
type Strength = keyof typeof strengths;
type Lockable = 'domain' | 'branch' | 'table_definition' | 'deployment' | 'promotion';

/**
 * Locks one row of the account until the transaction ends; false: there is none. The lock on a branch is what deployments,
 * removals and the deletion of the branch take turns by.
 */
export async function lockRow(
  tx: Transaction,
  table: Lockable,
  accountId: number,
  id: number,
  strength: Strength = 'edit',
): Promise<boolean> {
  const text = `select id from ${table} where id = $1 and account_id = $2 ${strengths[strength]}`;
  const { rows } = await prismaSql(tx)(text, [id, accountId]);
  return rows.length === 1;
}

type Caller = { accountId: number; requestId?: string };

/** Announces `metadata.<noun>.<past participle>` in the transaction. */
export async function tell(
  tx: Transaction,
  caller: Caller,
  event: string,
  payload: Record<string, unknown>,
): Promise<void> {
  await tellAll(tx, caller, event, [payload]);
}

/** Announces the same of several things, with one statement. */
export async function tellAll(
  tx: Transaction,
  caller: Caller,
  event: string,
  payloads: Record<string, unknown>[],
): Promise<void> {
  const announcements = payloads.map((payload) => ({
    type: `metadata.${event}`,
    payload: { account_id: caller.accountId, ...payload },
    requestId: caller.requestId,
  }));
  await announceAll(prismaSql(tx), announcements);
}

/** Sends what the caller has done to the audit log, in the transaction. No act (nothing was changed): nothing. */
export async function tellAct(tx: Transaction, caller: RpcCaller, act: AuditAct | undefined): Promise<void> {
  await announceAct(prismaSql(tx), 'metadata', caller, act);
}
