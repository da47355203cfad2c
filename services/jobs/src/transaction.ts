// Transactions of jobs: tried again when the database asks for it, with the locks and announcements they share.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type AuditAct, announceAct } from '@almanac/service-kit/messaging/audit';
import { announce } from '@almanac/service-kit/messaging/outbox';
import { prismaSql, retryTransaction } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from './context.ts';
import type { Prisma } from './generated/prisma/client.ts';

export type Transaction = Prisma.TransactionClient;

/** Runs `work` in one transaction; a deadlock runs it again, so it has no effect outside the database. */
export function transact<T>(ctx: Pick<JobsContext, 'prisma'>, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return retryTransaction(() => ctx.prisma.$transaction(work, { maxWait: 5_000, timeout: 20_000 }));
}

/** What is counted or made once per account waits here for its turn. */
export async function lockAccount(
  tx: Transaction,
  accountId: number,
  purpose: 'imports' | 'exports' | 'mails' | 'storage',
): Promise<void> {
  await prismaSql(tx)('select pg_advisory_xact_lock(hashtext($1), $2::int)::text', [`jobs.${purpose}`, accountId]);
}

/** Changes to the import mappings of one table wait here for their turn: what each finds is what the one before has left. */
export async function lockMappings(tx: Transaction, tableDefinitionId: number): Promise<void> {
  await prismaSql(tx)("select pg_advisory_xact_lock(hashtext('jobs.import_mappings'), $1::int)::text", [
    tableDefinitionId,
  ]);
}

type Caller = { accountId: number; requestId?: string };

/** Announces `jobs.<noun>.<past participle>` in the transaction. */
export async function tell(
  tx: Transaction,
  caller: Caller,
  event: string,
  payload: Record<string, unknown>,
): Promise<void> {
  await announce(prismaSql(tx), {
    type: `jobs.${event}`,
    payload: { account_id: caller.accountId, ...payload },
    ...(caller.requestId === undefined ? {} : { requestId: caller.requestId }),
  });
}

/** Sends what a call has done to the audit log, in the transaction. */
export async function tellAct(tx: Transaction, call: CallContext, act: AuditAct): Promise<void> {
  await announceAct(prismaSql(tx), 'jobs', call, act);
}
