// Transactions of jobs, which are retried after deadlocks, and the locks and events they share.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type AuditAct, announceAct } from '@almanac/service-kit/messaging/audit';
import { announce as addToOutbox } from '@almanac/service-kit/messaging/outbox';
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
  purpose: 'imports' | 'exports' | 'mails' | 'storage',
): Promise<void> {
  await prismaSql(tx)('select pg_advisory_xact_lock(hashtext($1), $2::int)::text', [`jobs.${purpose}`, accountId]);
}

/** Serializes changes to the import mappings of one table, until the transaction ends. */
export async function lockMappings(tx: Transaction, tableDefinitionId: number): Promise<void> {
  await prismaSql(tx)("select pg_advisory_xact_lock(hashtext('jobs.import_mappings'), $1::int)::text", [
    tableDefinitionId,
  ]);
}

type Caller = { accountId: number; requestId?: string };

/** Publishes the event `jobs.<noun>.<past participle>` through the outbox of the transaction. */
export async function announce(
  tx: Transaction,
  caller: Caller,
  event: string,
  payload: Record<string, unknown>,
): Promise<void> {
  await addToOutbox(prismaSql(tx), {
    type: `jobs.${event}`,
    payload: { account_id: caller.accountId, ...payload },
    ...(caller.requestId === undefined ? {} : { requestId: caller.requestId }),
  });
}

/** Sends an act of a call to the audit log, through the outbox of the transaction. */
export async function recordAct(tx: Transaction, call: CallContext, act: AuditAct): Promise<void> {
  await announceAct(prismaSql(tx), 'jobs', call, act);
}
