// Exports as Parquet, by DuckDB in a process of its own: CSV as PostgreSQL wrote it goes in through one named pipe, the file comes out of
// another. Neither rows nor bytes of the file are gathered here or lie on a disk (docs/adr/0011).
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ExportColumn } from '../table-file/copied-rows.ts';
import { fileError } from '../table-file/file-error.ts';
import type { FromParquetWriter, ParquetOrder } from './writer-messages.ts';

const makeFile = promisify(execFile);
const openEveryMs = 5;
/** For the rest of a file, once all rows are given. */
const patienceMs = 120_000;
const mostRowBytes = 16 * 1024 * 1024;
const leastRowBytes = 2 * 1024 * 1024;

/** The whole file; `rows` is CSV as PostgreSQL writes it, cut anywhere. */
export async function* writeParquet(
  columns: readonly ExportColumn[],
  rows: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-parquet-'));
  const order = { folder, input: join(folder, 'rows'), output: join(folder, 'file') };
  let writer: ParquetWriter | undefined;
  try {
    await makeFile('mkfifo', ['-m', '600', order.input, order.output]);
    const typed = columns.map((column) => ({ name: column.name, type: typeOf(column) }));
    writer = new ParquetWriter({ ...order, columns: typed, rowBytes: rowBytes(columns) });
    yield* writer.write(rows);
  } finally {
    await writer?.end();
    await rm(folder, { recursive: true, force: true });
  }
}

class ParquetWriter {
  private readonly process: ChildProcess;
  private readonly input: string;
  private readonly file: Socket;
  private readonly stop = new AbortController();
  private readonly whole: Promise<void>;
  private failure: unknown;

  constructor(order: ParquetOrder) {
    this.input = order.input;
    // Does not wait for the writer at the other end, and is at its end only when one has come and gone.
    const fd = openSync(order.output, constants.O_RDONLY | constants.O_NONBLOCK);
    this.file = new Socket({ fd, readable: true, writable: false });
    this.process = fork(fileURLToPath(new URL('./writer-process.ts', import.meta.url)), [], {
      execArgv: ['--max-old-space-size=64'],
      env: { MALLOC_ARENA_MAX: '1' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.whole = new Promise((resolve) => {
      this.process.on('message', (message: FromParquetWriter) => {
        if (message.type === 'failed') this.fail(errorOf(message));
        resolve();
      });
      this.process.on('exit', (code, signal) => {
        this.fail(new Error(`the writer of a Parquet file ended before the file did (${signal ?? code})`));
        resolve();
      });
    });
    this.process.on('error', (error) => this.fail(error));
    this.process.send(order, () => {}); // what can't be sent is told by its end
  }

  async *write(rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const fed = this.feed(rows).catch((error: unknown) => this.fail(error));
    try {
      for await (const chunk of this.file) yield chunk as Uint8Array;
      await this.whole;
      await fed;
    } catch (error) {
      this.fail(error);
    }
    if (this.failure !== undefined) throw this.failure;
  }

  async end(): Promise<void> {
    this.stop.abort();
    this.file.destroy();
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const gone = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await gone;
  }

  private async feed(rows: AsyncIterable<Uint8Array>): Promise<void> {
    const sink = new Socket({ fd: await this.openInput(), readable: false, writable: true });
    await pipeline(rows, sink, { signal: this.stop.signal });
    this.file.setTimeout(patienceMs, () => this.fail(new Error('the writer of a Parquet file does not end')));
  }

  // Can only be opened once the reader is there: before, what is written and closed would be lost.
  private async openInput(): Promise<number> {
    for (;;) {
      this.stop.signal.throwIfAborted();
      try {
        return openSync(this.input, constants.O_WRONLY | constants.O_NONBLOCK);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      }
      await sleep(openEveryMs);
    }
  }

  // The first failure is the reason; the others follow from it.
  private fail(error: unknown): void {
    this.failure ??= error;
    this.stop.abort();
    this.file.destroy();
  }
}

function errorOf({ problem, tooLong }: Extract<FromParquetWriter, { type: 'failed' }>): Error {
  if (!tooLong) return new Error(problem);
  return fileError(`A row has more than ${mostRowBytes} bytes, too many for Parquet; export as another format.`);
}

// DuckDB holds some rows of the greatest length there may be: tables without long texts take far less memory.
function rowBytes(columns: readonly ExportColumn[]): number {
  const cellBytes = ({ dataType, precision }: ExportColumn) => {
    if (types[dataType] !== undefined || dataType === 'decimal') return 100;
    return precision === undefined ? mostRowBytes : 8 * precision + 3; // four bytes a character, and each may be a quote
  };
  const sum = columns.reduce((bytes, column) => bytes + cellBytes(column), 0);
  return Math.min(Math.max(sum, leastRowBytes), mostRowBytes);
}

// Types that tell most of the column's own; any other is text.
const types: Record<string, string> = {
  smallint: 'INTEGER',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  real: 'FLOAT',
  double: 'DOUBLE',
  boolean: 'BOOLEAN',
  date: 'DATE',
  time: 'TIME',
  datetime: 'TIMESTAMPTZ',
  timestamptz: 'TIMESTAMPTZ',
  uuid: 'UUID',
};

// Decimals without a scale of their own, or with more digits than readers take, are text: exact.
function typeOf({ dataType, precision, scale = 0 }: ExportColumn): string {
  if (dataType !== 'decimal') return types[dataType] ?? 'VARCHAR';
  if (precision === undefined || precision > 38 || scale < 0 || scale > precision) return 'VARCHAR';
  return `DECIMAL(${precision}, ${scale})`;
}
