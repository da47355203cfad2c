// The audit log: written in the transaction of the act it tells of, never changed afterwards (a trigger refuses it).

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type AuditAct, type AuditEntry, auditEntry } from '@almanac/service-kit/messaging/audit';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../transaction.ts';

type NewEntry = AuditEntry & { occurred_at?: Date };

/** Adds an entry; in a transaction, exactly if that commits. `occurred_at` is PostgreSQL's clock unless the act is older. */
export async function recordEntry(db: Database, entry: NewEntry): Promise<void> {
  await db.audit_event.create({ data: rowOf(entry), select: { id: true } });
}

/** Adds several entries, in one statement: it takes no longer than one. */
export async function recordEntries(db: Database, entries: NewEntry[]): Promise<void> {
  if (entries.length > 0) await db.audit_event.createMany({ data: entries.map(rowOf) });
}

function rowOf({ before, after, result = 'succeeded', ...facts }: NewEntry) {
  return {
    ...facts,
    result,
    before: before as Prisma.InputJsonObject | undefined,
    after: after as Prisma.InputJsonObject | undefined,
  };
}

/** Adds what a call has done. No act (an update that changed nothing): nothing. */
export async function recordAct(db: Database, call: CallContext, act: AuditAct | undefined): Promise<void> {
  if (act) await recordEntry(db, auditEntry(call, act));
}
