// Idempotency-Key: what a POST does, it does once for a key. The answer is kept in the transaction of the effect and given again for
// 24 hours; what failed leaves nothing, so it can be repeated.
//
// The database of a service whose POSTs take keys has this table (Prisma: paste the model; SQL: paste the statement):
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
//     account_id integer not null, caller text not null, key text not null, request_hash bytea not null,
//     headers jsonb, body text, created_at timestamptz(3) not null default now(), primary key (account_id, caller, key)
//   );
//   create index idempotent_answer_created_at on idempotent_answer (created_at);
import { createHash } from 'node:crypto';
import { ServiceError, validationFailed } from '../errors.ts';
import type { Sql } from '../postgres/database.ts';
import { type CallContext, callerName, type Keyed } from './call-context.ts';

/** The body of an answer, and the ETag when it has one. */
export type Answer = { body: string; etag?: string };

/** The key of a request, or undefined; a key that is none is 400. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header))
    throw new ServiceError('bad_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
  return header;
}

/** `content`: all that makes another request of it. */
export function keyedBy(call: CallContext, key: string, ...content: string[]): Keyed {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return { owner: [call.accountId, callerName(call), key], hash };
}

/**
 * Runs `make` unless this request has been answered before, and keeps what it answers; undefined: it has done nothing. Another
 * request with the key is 422; the same one, still running, is waited for. `sql` is the transaction in which `make` works.
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

/** The same where something is made: the id of what `make` has made, now or then. Without a key it is made whenever asked for. */
export async function makeOnce(sql: Sql, keyed: Keyed | undefined, make: () => Promise<number>): Promise<number> {
  if (!keyed) return make();
  const { body } = await answerOnce(sql, keyed, async () => ({ body: String(await make()) }));
  return Number(body);
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

/** The answer that was given to this request before; 422 when the key came with another one. */
export async function findAnswer(sql: Sql, { owner, hash }: Keyed): Promise<Answer | undefined> {
  const { rows } = await sql(
    `select request_hash = decode($4, 'hex') as same, body, headers->>'etag' as etag from idempotent_answer
     where account_id = $1::int and caller = $2 and key = $3 and created_at >= now() - interval '24 hours' and body is not null`,
    [...owner, hash],
  );
  const [found] = rows;
  if (!found) return undefined;
  if (!found.same) throw validationFailed('Idempotency-Key was used before with another request.');
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

/** Lets a request be done anew: what it began has come to nothing. */
export async function deleteAnswer(sql: Sql, { owner }: Keyed): Promise<void> {
  await sql('delete from idempotent_answer where account_id = $1::int and caller = $2 and key = $3', owner);
}

/** Forgets answers older than a day. */
export async function sweepAnswers(sql: Sql): Promise<void> {
  await sql(`delete from idempotent_answer where created_at < now() - interval '24 hours'`);
}
