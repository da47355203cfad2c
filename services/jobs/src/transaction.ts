// Transactions of jobs, which are retried after deadlocks, and the locks and events they share.

import { announcementsOf, recordActOf } from '@almanac/service-kit/messaging/announcements';
import { prismaSql, retryTransaction } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from './context.ts';
import type { Prisma } from './generated/prisma/client.ts';

export type Transaction = Prisma.TransactionClient;

/**
 * Runs `work` in one transaction. A deadlock runs it again, so `work` must have no effect outside
 * the database.
 */
export function transact<T>(ctx: Pick<JobsContext, 'prisma'>, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return retryTransaction(() => ctx.prisma.$transaction(work, { maxWait: 5_000, timeout: 20_000 }));
}

/** Serializes what is counted or created once per account, until the transaction ends. */
export async function lockAccount(
  tx: Transaction,
  accountId: number,
  purpose: 'imports' | 'exports' | 'mails' | 'storage' | 'events' | 'webhooks',
): Promise<void> {
  await prismaSql(tx)('select pg_advisory_xact_lock(hashtext($1), $2::int)::text', [`jobs.${purpose}`, accountId]);
}

/** Serializes changes to the import mappings of one table, until the transaction ends. */
export async function lockMappings(tx: Transaction, tableDefinitionId: number): Promise<void> {
  await prismaSql(tx)("select pg_advisory_xact_lock(hashtext('jobs.import_mappings'), $1::int)::text", [
    tableDefinitionId,
  ]);
}

export const { announce } = announcementsOf('jobs');
export const recordAct = recordActOf('jobs');
