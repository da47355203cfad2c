// Idempotency-Key: a POST takes effect once for each key. Its answer is stored in the transaction
// of the effect and replayed for 24 hours. A request that failed stores nothing, so it can be
// repeated.
//
// The database of a service whose POSTs take keys has this table (Prisma: paste the model; SQL:
// paste the statement):
//
//   model idempotent_answer {
//     account_id   Int
//     caller       String
//     key          String
//     request_hash Bytes
//     headers      Json?
//     body         String?
//     created_at   DateTime @default(now()) @db.Timestamptz(3)
//     @@id([account_id, caller, key])
//     @@index([created_at])
//   }
//
//   create table idempotent_answer (
//     account_id integer not null, caller text not null, key text not null,
//     request_hash bytea not null, headers jsonb, body text,
//     created_at timestamptz(3) not null default now(), primary key (account_id, caller, key)
//   );
//   create index idempotent_answer_created_at on idempotent_answer (created_at);
import { createHash } from 'node:crypto';
import { ServiceError, validationFailed } from '../errors.ts';
import type { Sql } from '../postgres/database.ts';
import { type CallContext, callerName, type Keyed } from './call-context.ts';

/** A stored answer: its body, and its ETag if it has one. */
export type Answer = { body: string; etag?: string };

/** The key of a request, if any. Throws 400 for a malformed one. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header))
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
      field: 'Idempotency-Key',
    });
  return header;
}

/** `content` is everything in which two different requests differ. */
export function keyedBy(call: CallContext, key: string, ...content: string[]): Keyed {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return { owner: [call.accountId, callerName(call), key], hash };
}

/**
 * Runs `make` and stores its answer, or replays the stored answer of this request. A `make` that
 * returns undefined had no effect: nothing is stored. Another request with the key is 422; the same
 * one, still running, is waited for. `sql` is the transaction in which `make` works.
 */
export async function answerOnce<A extends Answer | undefined>(
  sql: Sql,
  keyed: Keyed,
  make: () => Promise<A>,
): Promise<A | Answer> {
  const kept = await claim(sql, keyed);
  if (kept) return kept;
  const made = await make();
  await keep(sql, keyed, made);
  return made;
}

// A request with the same key that is still running holds the row; the insert waits for it.
async function claim(sql: Sql, keyed: Keyed): Promise<Answer | undefined> {
  const { rows: claimed } = await sql(
    `insert into idempotent_answer as a (account_id, caller, key, request_hash) values ($1::int, $2, $3, decode($4, 'hex'))
     on conflict (account_id, caller, key) do update
       set request_hash = excluded.request_hash, body = null, headers = null, created_at = now()
       where a.created_at < now() - interval '24 hours'
     returning true as claimed`,
    [...keyed.owner, keyed.hash],
  );
  if (claimed.length > 0) return undefined;
  const kept = await findAnswer(sql, keyed);
  if (!kept) throw new ServiceError('unavailable', 'The first request with this Idempotency-Key failed; try again.');
  return kept;
}

/** The stored answer of this request. Throws 422 when the key belongs to another request. */
export async function findAnswer(sql: Sql, { owner, hash }: Keyed): Promise<Answer | undefined> {
  const { rows } = await sql(
    `select request_hash = decode($4, 'hex') as same, body, headers->>'etag' as etag from idempotent_answer
     where account_id = $1::int and caller = $2 and key = $3 and created_at >= now() - interval '24 hours' and body is not null`,
    [...owner, hash],
  );
  const [found] = rows;
  if (!found) return undefined;
  if (!found.same)
    throw validationFailed({
      code: 'key_reused',
      message: 'Idempotency-Key was used before with another request.',
      field: 'Idempotency-Key',
    });
  return { body: found.body, ...(found.etag === null ? {} : { etag: found.etag }) };
}

async function keep(sql: Sql, keyed: Keyed, answer: Answer | undefined): Promise<void> {
  if (answer === undefined) return deleteAnswer(sql, keyed);
  const { body, ...headers } = answer;
  await sql(
    'update idempotent_answer set body = $4, headers = $5::jsonb where account_id = $1::int and caller = $2 and key = $3',
    [...keyed.owner, body, JSON.stringify(headers)],
  );
}

/** Deletes a stored answer, so that the request can be repeated: its work came to nothing. */
export async function deleteAnswer(sql: Sql, { owner }: Keyed): Promise<void> {
  await sql('delete from idempotent_answer where account_id = $1::int and caller = $2 and key = $3', owner);
}

/** Deletes answers older than a day. */
export async function sweepAnswers(sql: Sql): Promise<void> {
  await sql(`delete from idempotent_answer where created_at < now() - interval '24 hours'`);
}
