// Writes the audit log: each entry in the transaction of its act. Entries never change; a trigger
// refuses updates.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type AuditAct, type AuditEntry, auditEntry } from '@almanac/service-kit/messaging/audit';
import type { Prisma } from '../generated/prisma/client.ts';
import { announce, type Database } from '../transaction.ts';

type NewEntry = AuditEntry & { occurred_at?: Date };

/** The resources whose acts are announced, for the log of events of the account. */
const announced = new Set(['account', 'oauth_application', 'user', 'user_group', 'user_group_assignment']);

/** Adds an entry for an act of identity, and announces it if others may follow it. */
export async function recordEntry(db: Database, entry: AuditEntry): Promise<void> {
  await keepEntry(db, entry);
  const [noun = ''] = entry.action.split('.');
  if (entry.result === 'refused' || !announced.has(noun)) return;
  await announce(db, { requestId: entry.request_id }, 'audit.recorded', entry);
}

/**
 * Adds an entry without an announcement: another service has announced it. `occurred_at` is the
 * time of PostgreSQL's clock unless given.
 */
export async function keepEntry(db: Database, entry: NewEntry): Promise<void> {
  await db.audit_event.create({ data: rowOf(entry), select: { id: true } });
}

/**
 * Adds several entries in one statement, so that their number doesn't show in the response time.
 */
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

/** Adds an entry for an act of the caller; undefined (an update that changed nothing) adds none. */
export async function recordAct(db: Database, call: CallContext, act: AuditAct | undefined): Promise<void> {
  if (act) await recordEntry(db, auditEntry(call, act));
}
