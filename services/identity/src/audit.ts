// The audit log: written in the transaction of the act it tells of, never changed afterwards (a trigger refuses it).
import { type AuditAct, type AuditEntry, auditEntry } from '@almanac/service-kit/audit';
import type { CallContext } from '@almanac/service-kit/call-context';
import type { Database } from './database.ts';
import type { Prisma } from './generated/prisma/client.ts';

/** Adds an entry; in a transaction, exactly if that commits. `occurred_at` is PostgreSQL's clock unless the act is older. */
export async function recordAct(db: Database, entry: AuditEntry & { occurred_at?: Date }): Promise<void> {
  const { before, after, result = 'succeeded', ...facts } = entry;
  await db.audit_event.create({
    data: {
      ...facts,
      result,
      before: before as Prisma.InputJsonObject | undefined,
      after: after as Prisma.InputJsonObject | undefined,
    },
    select: { id: true },
  });
}

/** Adds what a call has done. No act (an update that changed nothing): nothing. */
export async function recordActOf(db: Database, call: CallContext, act: AuditAct | undefined): Promise<void> {
  if (act) await recordAct(db, auditEntry(call, act));
}
