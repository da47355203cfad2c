// Staging: a file is copied into an unlogged table of text cells that exists as long as its load.
// The session that made it holds a lock on its number, so that housekeeping recognises abandoned
// ones.

import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { hasSqlState, isCancelled } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { lockLoad, lockStaging, tryLockStaging, unlockSession } from '../../postgres/advisory-locks.ts';
import { stagingName } from '../../sql/identifiers.ts';
import type { LoadOptions } from '../plan/load-options.ts';
import { rejectCopyTerminator, UnreadableFile } from './copy-terminator.ts';
import { correctRowsSql } from './corrections-sql.ts';
import { loadLimits } from './load-limits.ts';
import { nameSession } from './load-sessions.ts';
import type { Staging } from './staged-file.ts';
import { copyStagingSql, createStagingSql } from './staged-sql.ts';

/** Copies the bytes into a new table as they arrive; nothing is buffered or parsed here. */
export async function stage(
  pool: pg.Pool,
  { accountId, target, options }: { accountId: number; target: string; options: LoadOptions },
  chunks: AsyncIterable<Buffer>,
): Promise<Staging> {
  const client = await pool.connect();
  let number: number | undefined;
  let broken = true;
  const release = async () => {
    try {
      if (number !== undefined) await dropStaging(pgSql(client), number);
      broken = false;
    } finally {
      client.release(broken);
    }
  };
  try {
    const sql = pgSql(client);
    const { rows } = await sql("select nextval('staging_number') as number");
    number = rows[0]?.number as number;
    await lockStaging(sql, number);
    const name = stagingName(number);
    const work = { accountId, loadId: options.loadId };
    const count = await inTransaction(client, async () => {
      await nameSession(sql, 'quiet', work);
      return copyInto(client, sql, name, options, chunks);
    }).catch((error: unknown) => {
      throw toUnreadableFile(error, options);
    });
    // The lock outlasts the transaction; the time-out and the name of the session don't.
    const lockTable = (tableDefinitionId: number) =>
      inTransaction(client, async () => {
        await nameSession(sql, 'quiet', work);
        await sql(`set local statement_timeout = '${loadLimits.statementMinutes}min'`);
        await lockLoad(sql, tableDefinitionId);
      });
    return { name, number, target, rows: count, lockTable, drop: release };
  } catch (error) {
    await release().catch(() => {});
    throw error;
  }
}

// Table and copy are one transaction: rows are stored in the order in which they arrive, and a
// failure leaves no table.
async function copyInto(
  client: pg.PoolClient,
  sql: Sql,
  name: string,
  options: LoadOptions,
  chunks: AsyncIterable<Buffer>,
): Promise<number> {
  await sql(`set local statement_timeout = '${loadLimits.statementMinutes}min'`);
  await sql(createStagingSql(name, options));
  const { rows } = await sql("select current_setting('server_version_num')::int < 180000 as older");
  const bytes = rows[0]?.older ? rejectCopyTerminator(chunks) : chunks;
  const count = await copy(client, copyStagingSql(name, options), bytes);
  if (options.corrections.length > 0) {
    const { text, values } = correctRowsSql(name, options);
    await sql(text, values);
  }
  // Without statistics the planner would estimate a handful of rows for a million; a small sample
  // is enough.
  await sql('set local default_statistics_target = 10');
  await sql(`analyze ${name}`);
  return count;
}

async function inTransaction<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

async function copy(client: pg.PoolClient, text: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  const stream = client.query(copyFrom(text));
  let failed: Error | undefined;
  let wake = () => {};
  stream.on('error', (error) => {
    failed = error;
    wake();
  });
  stream.on('drain', () => wake());
  try {
    for await (const chunk of chunks) {
      if (failed) throw failed;
      if (chunk.length > 0 && !stream.write(chunk) && !failed)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
    if (failed) throw failed;
  } catch (error) {
    if (failed) throw failed;
    // PostgreSQL reports a cancelled COPY with the code of a time-out; the error to report is why
    // the bytes ended.
    await new Promise<void>((resolve) => stream.once('close', resolve).destroy(error as Error));
    throw error;
  }
  await new Promise<void>((resolve, reject) => {
    if (failed) return reject(failed);
    wake = () => reject(failed);
    stream.once('finish', resolve);
    stream.end();
  });
  return stream.rowCount;
}

function toUnreadableFile(error: unknown, options: LoadOptions): unknown {
  if (error instanceof UnreadableFile) return error;
  const line = /line (\d+)/.exec(String((error as { where?: unknown }).where))?.[1];
  const place = line === undefined ? 'The file' : `Line ${Number(line) + options.firstRow - 1} of the file`;
  if (hasSqlState(error, 'bad_copy_file_format'))
    return new UnreadableFile(
      `${place} can't be read as CSV: a row must have ${options.fileColumns.length} cells, and quotes must be closed.`,
    );
  if (hasSqlState(error, 'character_not_in_repertoire', 'untranslatable_character'))
    return new UnreadableFile(`${place} holds bytes that are not UTF-8 text.`);
  if (isCancelled(error)) return new UnreadableFile(tooSlow);
  if (hasSqlState(error, 'program_limit_exceeded', 'string_data_right_truncation'))
    return new UnreadableFile(`${place} holds a row that is too large.`);
  return error;
}

const tooSlow = `The file took longer than ${loadLimits.statementMinutes} minutes to read. Split it into smaller files.`;

async function dropStaging(sql: Sql, number: number): Promise<void> {
  await sql(`drop table if exists ${stagingName(number)}`);
  await unlockSession(sql);
}

/** Drops staged files of loads that ended without dropping them. */
export async function sweepStaging(pool: pg.Pool): Promise<number> {
  const client = await pool.connect();
  let dropped = 0;
  let broken = true; // until all is done: the session may hold the lock of a staged file
  try {
    const sql = pgSql(client);
    const { rows } = await sql(
      `select substr(relname, 3)::int as number from pg_class where relnamespace = 'staging'::regnamespace and relkind = 'r' and relname ~ '^s_[0-9]+$'`,
    );
    for (const { number } of rows) {
      if (!(await tryLockStaging(sql, number))) continue;
      await dropStaging(sql, number);
      dropped += 1;
    }
    broken = false;
    return dropped;
  } finally {
    client.release(broken);
  }
}

/** The same bytes; throws when there are more. */
export async function* limitBytes(maxBytes: number, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = maxBytes;
  for await (const chunk of chunks) {
    left -= chunk.length;
    if (left < 0)
      throw new UnreadableFile(
        `The rows take more than the ${maxBytes} bytes that are left of the account's storage. Delete what isn't needed, or ask for more.`,
      );
    yield chunk;
  }
}

/** The bytes of a load's messages after the first; any other message is 400. */
export async function* chunksOf(
  messages: AsyncIterator<{ chunk?: Buffer | Uint8Array | string; options?: unknown }>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (;;) {
    signal.throwIfAborted();
    const { value, done } = await messages.next();
    if (done) break;
    if (value.chunk === undefined || value.chunk === null)
      throw new ServiceError('bad_request', { code: 'invalid', message: 'Options may come only first.' });
    yield value.chunk as Buffer;
  }
  // A cancelled stream ends like a finished one.
  signal.throwIfAborted();
}
