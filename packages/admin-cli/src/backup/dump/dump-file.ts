// A database in one file: SQL text, compressed by gzip, that PostgreSQL's own psql restores too:
//   zcat data.sql.gz | psql --single-transaction --set ON_ERROR_STOP=1 …
// A comment before each statement has its length, so that nothing needs to parse SQL; rows follow
// their COPY in PostgreSQL's text format and end with `\.`, which no row can be.
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { OperatorError } from '../../operator.ts';
import { type Checked, counter } from './checked.ts';

export type DumpWriter = {
  statement(text: string): Promise<void>;
  /** `copy` is a COPY FROM STDIN, `rows` what PostgreSQL sends for it. */
  rows(copy: string, rows: AsyncIterable<Buffer>): Promise<void>;
};

export type DumpPart = { statement: string } | { copy: string; rows: AsyncIterable<Buffer> };

const newline = 0x0a;
const endOfRows = Buffer.from('\n\\.\n');

/** Writes a new file, readable by its owner only. */
export async function writeDump(path: string, work: (writer: DumpWriter) => Promise<void>): Promise<Checked> {
  const gzip = createGzip({ level: 1 }); // half the CPU of the default level, for a tenth more bytes
  const passed = counter();
  const file = createWriteStream(path, { mode: 0o600, flags: 'wx', flush: true });
  const written = pipeline(gzip, passed.stream, file);
  written.catch((error: Error) => gzip.destroy(error));
  const mark = (kind: string, text: string) => write(gzip, `-- ${kind} ${Buffer.byteLength(text)}\n${text};\n`);
  try {
    await work({
      statement: (text) => mark('statement', text),
      rows: async (copy, rows) => {
        await mark('rows', copy);
        for await (const chunk of rows) await write(gzip, chunk);
        await write(gzip, endOfRows.subarray(1));
      },
    });
    gzip.end();
  } catch (error) {
    gzip.destroy(error as Error);
    await written.catch(() => {});
    throw error;
  }
  await written;
  return passed.result();
}

async function write(stream: Writable, chunk: string | Buffer): Promise<void> {
  if (stream.destroyed) throw stream.errored ?? new Error('The file is closed.');
  if (!stream.write(chunk)) await once(stream, 'drain');
}

/** The parts of a file in their order. Rows have to be read before the next part. */
export async function* readDump(path: string): AsyncGenerator<DumpPart> {
  const file = createReadStream(path);
  const gunzip = createGunzip();
  file.once('error', (error) => gunzip.destroy(error));
  const reader = new Reader(file.pipe(gunzip));
  try {
    for (let line = await reader.line(); line !== undefined; line = await reader.line()) {
      const [, kind, bytes] = /^-- (statement|rows) (\d+)$/.exec(line) ?? [];
      if (!kind) throw new OperatorError(`${path} is no dump of Almanac.`);
      const text = (await reader.take(Number(bytes))).toString();
      await reader.line(); // the semicolon
      yield kind === 'rows' ? { copy: text, rows: reader.rows() } : { statement: text };
    }
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}

class Reader {
  private readonly chunks: AsyncIterator<Buffer>;
  private held: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.chunks = stream[Symbol.asyncIterator]();
  }

  /** The next line without its end; undefined at the end of the file. */
  async line(): Promise<string | undefined> {
    let end = this.held.indexOf(newline);
    while (end < 0) {
      const searched = this.held.length;
      if (!(await this.more())) {
        if (searched === 0) return undefined;
        throw truncated();
      }
      end = this.held.indexOf(newline, searched);
    }
    return (await this.take(end + 1)).toString('utf8', 0, end);
  }

  async take(bytes: number): Promise<Buffer> {
    while (this.held.length < bytes) if (!(await this.more())) throw truncated();
    const taken = this.held.subarray(0, bytes);
    this.held = this.held.subarray(bytes);
    return taken;
  }

  /** The bytes before the line `\.`, which is skipped. */
  async *rows(): AsyncGenerator<Buffer> {
    // The end may be the first line, or lie in two chunks.
    this.held = Buffer.concat([endOfRows.subarray(0, 1), this.held]);
    let skip = 1;
    for (;;) {
      const end = this.held.indexOf(endOfRows);
      const isComplete = end >= 0;
      const safe = isComplete ? end + 1 : Math.max(0, this.held.length - endOfRows.length + 1);
      if (safe > skip) yield this.held.subarray(skip, safe);
      skip = Math.max(0, skip - safe);
      this.held = this.held.subarray(isComplete ? end + endOfRows.length : safe);
      if (isComplete) return;
      if (!(await this.more())) throw truncated();
    }
  }

  private async more(): Promise<boolean> {
    const { value, done } = await this.chunks.next();
    if (!done) this.held = this.held.length === 0 ? value : Buffer.concat([this.held, value]);
    return !done;
  }
}

const truncated = () => new OperatorError('The backup is damaged: a dump ends too early.');
