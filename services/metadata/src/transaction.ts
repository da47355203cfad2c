// Transactions of metadata, and what they share: row locks, announcements, entries of the audit
// log.

import { ServiceError } from '@almanac/service-kit/errors';
import { announcementsOf, recordActOf } from '@almanac/service-kit/messaging/announcements';
import { prismaSql, retryTransaction } from '@almanac/service-kit/postgres/database';
import { isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from './context.ts';
import type { Prisma } from './generated/prisma/client.ts';

export type Transaction = Prisma.TransactionClient;

/**
 * Runs `work` in one transaction. A deadlock runs it again, so it must have no effect outside the
 * database.
 */
export function transact<T>(ctx: Pick<MetadataContext, 'prisma'>, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return retryTransaction(() => ctx.prisma.$transaction(work, { maxWait: 5_000, timeout: 20_000 }));
}

/** Runs reads that all see the same snapshot. */
export function readSnapshot<T>(
  ctx: Pick<MetadataContext, 'prisma'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return ctx.prisma.$transaction(work, { isolationLevel: 'RepeatableRead', maxWait: 5_000, timeout: 20_000 });
}

/**
 * Runs `work`; a violated unique index becomes 422 with this problem, or with the one it finds.
 */
export async function mapUniqueViolation<T>(
  problem: Problem | (() => Promise<Problem>),
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const found = typeof problem === 'function' ? await problem() : problem;
    throw new ServiceError('already_exists', found, { cause: error });
  }
}

export const nameTaken: Problem = { code: 'taken', message: 'Name has already been taken', field: 'name' };

// Under `edit` other rows may still start to refer to the row (foreign keys), under `remove` not.
const strengths = { edit: 'for no key update', remove: 'for update', read: 'for share' } as const;
type Strength = keyof typeof strengths;
type Lockable = 'domain' | 'branch' | 'table_definition' | 'deployment' | 'promotion' | 'change_request' | 'saved_view';

/**
 * Locks one row of the account until the transaction ends; false: there is none. Deployments,
 * promotions and removals of a branch, and its deletion, run one at a time under the lock on the
 * branch.
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

export const { announce, announceAll } = announcementsOf('metadata');
export const recordAct = recordActOf('metadata');

/** Who caused it, for announcements of definitions: the log of the account shows the actor. */
export const byCaller = ({ userId, applicationId }: Pick<RpcCaller, 'userId' | 'applicationId'>) => ({
  by: { user_id: userId ?? null, application_id: applicationId ?? null },
});
