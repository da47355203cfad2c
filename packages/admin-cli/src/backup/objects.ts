// The objects of a backup: those that rows of jobs name. Objects are immutable until they expire,
// so a later copy equals the object at the instant.
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import type { Sql } from '@almanac/service-kit/postgres/database';
import {
  ObjectChanged,
  type ObjectStore,
  requireKey,
} from '../../../../services/jobs/src/files/object-store/object-store.ts';
import { OperatorError } from '../operator.ts';
import { type Checked, counter } from './dump/checked.ts';
import type { StoredFile } from './manifest.ts';

const listName = 'objects.ndjson';
const pageSize = 1_000;
const atOnce = 4;

type Entry = Checked & { key: string; etag: string };

const pathOf = (folder: string, key: string) => join(folder, 'objects', requireKey(key));

/** Copies every object that a row names. `sql` reads as of the instant, `now` the current rows. */
export async function backupObjects(store: ObjectStore, { sql, now }: { sql: Sql; now: Sql }, folder: string) {
  const list = counter();
  const written = pipeline(
    list.stream,
    createWriteStream(join(folder, listName), { mode: 0o600, flags: 'wx', flush: true }),
  );
  const absent: string[] = [];
  const total = { count: 0, bytes: 0 };
  for await (const keys of pagesOfKeys(sql)) {
    const entries = await inTurns(keys, (key) => copyOut(store, key, folder));
    absent.push(...keys.filter((_key, i) => !entries[i]));
    for (const entry of entries) {
      if (!entry) continue;
      total.count += 1;
      total.bytes += entry.bytes;
      if (!list.stream.write(`${JSON.stringify(entry)}\n`)) await once(list.stream, 'drain');
    }
  }
  list.stream.end();
  await written;
  await requireNoneLost(absent, sql, now);
  const described: StoredFile = { file: listName, ...list.result() };
  return { list: described, ...total };
}

async function* pagesOfKeys(sql: Sql): AsyncGenerator<string[]> {
  for (let last = ''; ; ) {
    const { rows } = await sql(`select key from stored_object where key > $1 order by key limit ${pageSize}`, [last]);
    if (rows.length === 0) return;
    yield rows.map(({ key }) => key as string);
    last = rows.at(-1)?.key;
  }
}

async function inTurns<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

async function copyOut(store: ObjectStore, key: string, folder: string): Promise<Entry | undefined> {
  const path = pathOf(folder, key);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  for (let attempt = 1; ; attempt += 1) {
    const found = await store.stat(key);
    if (!found) return undefined;
    try {
      const passed = counter();
      await pipeline(
        await store.read(key, found.etag),
        passed.stream,
        createWriteStream(path, { mode: 0o600, flush: true }),
      );
      return { key, etag: found.etag, ...passed.result() };
    } catch (error) {
      if (!(error instanceof ObjectChanged) || attempt === 5) throw error;
    }
  }
}

// Rows exist before their objects and after their expiry, so most missing objects are no loss.
const needed = `select key from stored_object s where s.key = any($1) and s.expires_at > now() and (
  exists (select from data_export e where e.object_key = s.key and e.status = 'completed')
  or exists (select from import_table t where t.object_key = s.key and t.status in ('uploaded', 'processing'))
  or exists (select from import_table t where t.rejected_key = s.key))`;

async function requireNoneLost(absent: string[], then: Sql, now: Sql): Promise<void> {
  const before = (await then(needed, [absent])).rows.map(({ key }) => key as string);
  const lost = (await now(needed, [before])).rows.map(({ key }) => key as string);
  if (lost.length === 0) return;
  const few = lost.slice(0, 5).join(', ');
  throw new OperatorError(`The object store lacks ${lost.length} objects that rows refer to, among them ${few}.`);
}

/** An object with another etag in the new store. */
export type Renamed = { key: string; from: string; to: string };

/** Stores all objects of the folder; repeatable. Returns those with another etag. */
export async function restoreObjects(store: ObjectStore, folder: string, list: StoredFile): Promise<Renamed[]> {
  const renamed: Renamed[] = [];
  const lines = createInterface({ input: createReadStream(join(folder, list.file)) });
  let batch: Entry[] = [];
  const flush = async () => {
    await inTurns(batch, async (entry) => {
      const etag = await copyIn(store, entry, folder);
      if (etag !== entry.etag) renamed.push({ key: entry.key, from: entry.etag, to: etag });
    });
    batch = [];
  };
  for await (const line of lines) {
    batch.push(JSON.parse(line) as Entry);
    if (batch.length === pageSize) await flush();
  }
  await flush();
  return renamed;
}

async function copyIn(store: ObjectStore, entry: Entry, folder: string): Promise<string> {
  const source = createReadStream(pathOf(folder, entry.key));
  const { etag } = await store.put(entry.key, checked(source, entry), { maxBytes: entry.bytes });
  return etag;
}

// Fails before the last byte, so that the store never has a damaged object.
async function* checked(source: AsyncIterable<Buffer>, { key, sha256 }: Entry): AsyncGenerator<Buffer> {
  const passed = counter();
  passed.stream.resume();
  for await (const chunk of source) {
    if (!passed.stream.write(chunk)) await once(passed.stream, 'drain');
    yield chunk;
  }
  passed.stream.end();
  await once(passed.stream, 'end');
  if (passed.result().sha256 !== sha256) throw new OperatorError(`The backup is damaged: ${key} has other bytes.`);
}

/** Updates the etags of uploads that wait for their import. */
export async function renameEtags(sql: Sql, renamed: Renamed[]): Promise<void> {
  for (let i = 0; i < renamed.length; i += pageSize)
    await sql(
      `update import_table t set object_etag = r."to"
       from jsonb_to_recordset($1::jsonb) as r (key text, "from" text, "to" text)
       where t.object_key = r.key and t.object_etag = r."from"`,
      [JSON.stringify(renamed.slice(i, i + pageSize))],
    );
}
