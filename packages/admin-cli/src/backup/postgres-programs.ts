// Runs pg_dump and pg_restore, with a checksum over the bytes between them and a file.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { quietName } from '../../../../services/data/src/postgres/pools.ts';
import { OperatorError } from '../operator.ts';

// Without the views for SQL clients: data recreates them, and pg_dump, which locks tables only,
// fails when a view is dropped while it reads.
const withoutViews = '--exclude-schema=v_[0-9]*';

export type Checked = { bytes: number; sha256: string };

/** Writes a database as of a snapshot into a file, readable by its owner only. */
export async function dumpDatabase(
  { url, snapshot, programs }: { url: string; snapshot: string; programs: string | undefined },
  file: string,
): Promise<Checked> {
  const words = ['--format=custom', '--no-owner', '--no-privileges', '--no-unlogged-table-data', withoutViews];
  const { child, ended } = start('pg_dump', programs, [...words, `--snapshot=${snapshot}`], url);
  child.stdin.end();
  const passed = counter();
  await settle(
    ended,
    pipeline(child.stdout, passed.stream, createWriteStream(file, { mode: 0o600, flags: 'wx', flush: true })),
  );
  return passed.result();
}

/** Fills an empty database from such a file, in one transaction. */
export async function restoreDatabase(
  { url, programs }: { url: string; programs: string | undefined },
  file: string,
): Promise<void> {
  const words = ['--format=custom', '--no-owner', '--no-privileges', '--exit-on-error', '--single-transaction'];
  const { child, ended } = start('pg_restore', programs, [...words, `--dbname=${databaseOf(url)}`], url);
  child.stdout.resume();
  await settle(ended, pipeline(createReadStream(file), child.stdin));
}

/** A stream that counts and hashes its bytes. */
export function counter(): { stream: Transform; result(): Checked } {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ bytes, sha256: hash.digest('hex') }) };
}

// The program's exit says more than the broken pipe that it causes.
async function settle(ended: Promise<void>, piped: Promise<void>): Promise<void> {
  const results = await Promise.allSettled([ended, piped]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

function start(name: string, programs: string | undefined, words: string[], url: string) {
  const child = spawn(programs ? join(programs, name) : name, words, {
    env: { PATH: process.env.PATH, LC_ALL: 'C', PGAPPNAME: quietName, ...libpqEnvironment(url) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk).slice(-4_000);
  });
  const ended = new Promise<void>((done, fail) => {
    child.once('error', (error) => fail(new OperatorError(`${name} can't be run (${error.message}). ${whereTo}`)));
    child.once('close', (code) =>
      code === 0 ? done() : fail(new OperatorError(`${name} ended with code ${code}:\n${said.trim()}`)),
    );
  });
  return { child, ended };
}

const whereTo =
  "Install PostgreSQL's client programs, of the server's version or newer, or name their folder in ALMANAC_POSTGRES_PROGRAMS.";

const databaseOf = (url: string) => decodeURIComponent(new URL(url).pathname.slice(1));

/**
 * A connection as libpq's variables: every user of the machine could see a password in arguments.
 */
export function libpqEnvironment(text: string): Record<string, string> {
  const url = new URL(text);
  const variables: Record<string, string> = {
    PGHOST: url.hostname.replace(/^\[|\]$/g, ''),
    PGPORT: url.port || '5432',
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: databaseOf(text),
  };
  const parameters = { sslmode: 'PGSSLMODE', sslrootcert: 'PGSSLROOTCERT', sslcert: 'PGSSLCERT', sslkey: 'PGSSLKEY' };
  for (const [parameter, variable] of Object.entries(parameters)) {
    const value = url.searchParams.get(parameter);
    if (value) variables[variable] = value;
  }
  return variables;
}
