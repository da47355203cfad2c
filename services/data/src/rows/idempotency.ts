// Writes of rows by request: once for an Idempotency-Key, whose first answer is kept in the transaction of the write and given again
// for 24 hours; and again, a few times, when PostgreSQL has ended a write to let another go on.
import { createHash } from 'node:crypto';
import type { CallContext } from '@almanac/service-kit/call-context';
import { pgSql, retryTransaction, type Sql, withTransaction } from '@almanac/service-kit/database';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { run, runOn } from '../database.ts';
import type { Statement } from '../query/statement.ts';
import { actorOf } from './origin.ts';

/** The body of an answer, and the ETag when it is a record. */
export type Answer = { body: string; etag?: string };

/** What an Idempotency-Key stands for: the key of this caller, and a hash of the request. */
type Keyed = { owner: [accountId: number, caller: string, key: string]; hash: Buffer };

/** The key of a request, or undefined; a key that is none is 400. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header))
    throw new ServiceError('bad_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
  return header;
}

/** `content`: all that makes another request of it. Undefined without a key. */
export function keyedBy(call: CallContext, key: string | undefined, ...content: unknown[]): Keyed | undefined {
  if (key === undefined) return undefined;
  const hash = createHash('sha256').update(JSON.stringify(content)).digest();
  return { owner: [call.accountId, actorOf(call), key], hash };
}

/** The answer that was given to this request before; 422 when the key came with another one. */
export async function findAnswer(ctx: DataContext, keyed: Keyed | undefined): Promise<Answer | undefined> {
  return keyed && findKept(pgSql(ctx.pools.rows), keyed);
}

/**
 * Runs one statement that writes rows of the table and makes the answer of its row; undefined: it has written nothing. With a key
 * all of it is one transaction that also keeps the answer, and when another request with the key was first, answers what that did.
 * What failed or wrote nothing leaves nothing, so it can be repeated.
 */
export async function writeOnce<T>(
  ctx: DataContext,
  table: DeployedTable,
  keyed: Keyed | undefined,
  statement: Statement,
  answerOf: (row: T) => Answer | undefined,
): Promise<Answer | undefined> {
  const pool = ctx.pools.rows;
  const read = ([row]: T[]) => row && answerOf(row);
  const answer = keyed
    ? await withTransaction(pool, async (sql, client) => {
        const kept = await claim(sql, keyed);
        if (kept) return kept;
        const made = read(await runOn<T>(client, statement));
        await keep(sql, keyed, made);
        return made;
      })
    : read(await retryTransaction(() => run<T>(pool, statement)));
  if (answer) ctx.announcer.touch(table);
  return answer;
}

// A request with the same key that is still running holds the row; the insert waits for it.
async function claim(sql: Sql, { owner, hash }: Keyed): Promise<Answer | undefined> {
  const { rows: claimed } = await sql(
    `insert into idempotent_answer as a (account_id, caller, key, request_hash) values ($1::int, $2, $3, $4::bytea)
     on conflict (account_id, caller, key) do update
       set request_hash = excluded.request_hash, body = null, headers = null, created_at = now()
       where a.created_at < now() - interval '24 hours'
     returning true`,
    [...owner, hash],
  );
  if (claimed.length > 0) return undefined;
  const kept = await findKept(sql, { owner, hash });
  if (!kept) throw new ServiceError('unavailable', 'The first request with this Idempotency-Key failed; try again.');
  return kept;
}

async function findKept(sql: Sql, { owner, hash }: Keyed): Promise<Answer | undefined> {
  const { rows } = await sql(
    `select request_hash = $4::bytea as same, body, headers->>'etag' as etag from idempotent_answer
     where account_id = $1::int and caller = $2 and key = $3 and created_at >= now() - interval '24 hours' and body is not null`,
    [...owner, hash],
  );
  const [found] = rows;
  if (!found) return undefined;
  if (!found.same) throw validationFailed('Idempotency-Key was used before with another request.');
  return { body: found.body, ...(found.etag === null ? {} : { etag: found.etag }) };
}

async function keep(sql: Sql, { owner }: Keyed, answer: Answer | undefined): Promise<void> {
  const own = 'where account_id = $1::int and caller = $2 and key = $3';
  if (answer === undefined) await sql(`delete from idempotent_answer ${own}`, owner);
  else {
    const { body, ...headers } = answer;
    await sql(`update idempotent_answer set body = $4, headers = $5::jsonb ${own}`, [
      ...owner,
      body,
      JSON.stringify(headers),
    ]);
  }
}

/** Forgets answers older than a day. */
export async function sweepAnswers(sql: Sql): Promise<void> {
  await sql(`delete from idempotent_answer where created_at < now() - interval '24 hours'`);
}
