// The audit log: written in the transaction of the act it tells of, never changed afterwards (a trigger refuses it).
import type { AuditEntry } from '@almanac/service-kit/audit';
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
