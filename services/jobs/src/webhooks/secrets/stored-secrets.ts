// The stored secrets during a rotation of the key that encrypts them.
import { withTransaction } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import type { WebhookSecrets } from './webhook-secrets.ts';

/** Encrypts what the previous key had encrypted with the key of now. */
export async function resealSecrets(pool: pg.Pool, secrets: WebhookSecrets): Promise<void> {
  await withTransaction(pool, async (sql) => {
    const { rows } = await sql('select id, secret, previous_secret from webhook_endpoint order by id for update');
    for (const { id, secret, previous_secret } of rows) {
      const resealed = secrets.reseal(id, secret);
      const previous = previous_secret && secrets.reseal(id, previous_secret);
      if (resealed || previous)
        await sql(
          `update webhook_endpoint set secret = coalesce($2::bytea, secret), previous_secret = coalesce($3::bytea, previous_secret)
           where id = $1::int`,
          [id, resealed && Buffer.from(resealed), previous && Buffer.from(previous)],
        );
    }
  });
}
