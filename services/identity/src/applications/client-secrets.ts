// Secrets with which confidential applications authenticate: returned on creation, stored as a
// digest.

import { digestOf, newSecret } from '../security/digest.ts';
import type { Database } from '../transaction.ts';

/** The columns of a secret that the API shows. */
export const secretColumns = { id: true, hint: true, created_at: true, last_used_at: true } as const;

export type NewSecret = {
  id: number;
  hint: string | null;
  created_at: Date;
  last_used_at: Date | null;
  secret: string;
};

/** Creates a secret for an application. */
export async function insertSecret(db: Database, applicationId: number): Promise<NewSecret> {
  const secret = newSecret();
  const columns = await db.oauth_secret.create({
    data: { application_id: applicationId, digest: digestOf(secret), hint: secret.slice(-4) },
    select: secretColumns,
  });
  return { ...columns, secret };
}

/** Records, to the hour, that a secret was used. Of concurrent uses only the first writes. */
export async function recordSecretUse(db: Database, secret: { id: number; last_used_at: Date | null }): Promise<void> {
  if (secret.last_used_at && Date.now() - secret.last_used_at.getTime() < 3_600_000) return;
  await db.$executeRaw`
    update oauth_secret set last_used_at = date_trunc('hour', now(), 'UTC')
    where id = (
      select id from oauth_secret
      where id = ${secret.id} and (last_used_at is null or last_used_at < date_trunc('hour', now(), 'UTC'))
      for update skip locked)`;
}
