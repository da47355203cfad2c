// Idempotency-Key: the first answer is kept in the transaction of the write and given again for 24 hours.
import { createHash } from 'node:crypto';
import type { CallContext } from '@almanac/service-kit/call-context';
import { type Sql, withTransaction } from '@almanac/service-kit/database';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type pg from 'pg';
import { actorOf } from './origin.ts';

export type KeptAnswer = { body: string; etag: string };

/** The key of a request, or undefined; a key that is none is 400. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header))
    throw new ServiceError('bad_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
  return header;
}

/**
 * Runs `work` in a transaction that also keeps its answer; the same key again answers that and does nothing. The same key
 * with another request is 422. A failed request leaves nothing, so it can be repeated.
 */
export function answerOnce<T>(
  pool: pg.Pool,
  call: CallContext,
  request: { key: string; content: unknown },
  work: (client: pg.PoolClient) => Promise<KeptAnswer | T>,
  isAnswer: (result: KeptAnswer | T) => result is KeptAnswer,
): Promise<KeptAnswer | T> {
  const owner = [call.accountId, actorOf(call), request.key];
  const hash = createHash('sha256').update(JSON.stringify(request.content)).digest();
  return withTransaction(pool, async (sql, client) => {
    const kept = await claim(sql, owner, hash);
    if (kept) return kept;
    const result = await work(client);
    if (!isAnswer(result)) {
      await sql('delete from idempotent_answer where account_id = $1::int and caller = $2 and key = $3', owner);
      return result;
    }
    await sql(
      'update idempotent_answer set status = 201, body = $4, headers = $5::jsonb where account_id = $1::int and caller = $2 and key = $3',
      [...owner, result.body, JSON.stringify({ etag: result.etag })],
    );
    return result;
  });
}

// A request with the same key that is still running holds the row; the insert waits for it.
async function claim(sql: Sql, owner: unknown[], hash: Buffer): Promise<KeptAnswer | undefined> {
  const { rows: claimed } = await sql(
    `insert into idempotent_answer as a (account_id, caller, key, request_hash) values ($1::int, $2, $3, $4::bytea)
     on conflict (account_id, caller, key) do update
       set request_hash = excluded.request_hash, status = null, body = null, headers = null, created_at = now()
       where a.created_at < now() - interval '24 hours'
     returning true`,
    [...owner, hash],
  );
  if (claimed.length > 0) return undefined;
  const { rows } = await sql(
    `select request_hash = $4::bytea as same, body, headers->>'etag' as etag from idempotent_answer
     where account_id = $1::int and caller = $2 and key = $3`,
    [...owner, hash],
  );
  const [found] = rows;
  if (!found?.body)
    throw new ServiceError('unavailable', 'The first request with this Idempotency-Key failed; try again.');
  if (!found.same) throw validationFailed('Idempotency-Key was used before with another request.');
  return { body: found.body, etag: found.etag };
}

/** Forgets answers older than a day. */
export async function sweepAnswers(sql: Sql): Promise<void> {
  await sql(`delete from idempotent_answer where created_at < now() - interval '24 hours'`);
}
