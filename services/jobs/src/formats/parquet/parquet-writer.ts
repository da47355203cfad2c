// Exports as Parquet, by DuckDB in a child process: CSV as PostgreSQL wrote it goes in through one
// named pipe, the file comes out of another. Neither is buffered in memory or on disk
// (docs/adr/0011).
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
import type { WriteRequest, WriterMessage } from './writer-messages.ts';

const runProgram = promisify(execFile);
const openEveryMs = 5;
/** The time to finish the file once all rows are sent. */
const finishTimeoutMs = 120_000;
const maxRowBytes = 16 * 1024 * 1024;
const minRowBytes = 2 * 1024 * 1024;

/** The whole file; `rows` is CSV as PostgreSQL writes it, cut anywhere. */
export async function* writeParquet(
  columns: readonly ExportColumn[],
  rows: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-parquet-'));
  const request = { folder, input: join(folder, 'rows'), output: join(folder, 'file') };
  let writer: ParquetWriter | undefined;
  try {
    await runProgram('mkfifo', ['-m', '600', request.input, request.output]);
    const typed = columns.map((column) => ({ name: column.name, type: typeOf(column) }));
    writer = new ParquetWriter({ ...request, columns: typed, rowBytes: rowBytes(columns) });
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
  private readonly finished: Promise<void>;
  private failure: unknown;

  constructor(request: WriteRequest) {
    this.input = request.input;
    // Does not wait for the writer to open its end; reading ends when the writer has closed it.
    const fd = openSync(request.output, constants.O_RDONLY | constants.O_NONBLOCK);
    this.file = new Socket({ fd, readable: true, writable: false });
    this.process = fork(fileURLToPath(new URL('./writer-process.ts', import.meta.url)), [], {
      execArgv: ['--max-old-space-size=64'],
      env: { MALLOC_ARENA_MAX: '1' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.finished = new Promise((resolve) => {
      this.process.on('message', (message: WriterMessage) => {
        if (message.type === 'failed') this.fail(errorOf(message));
        resolve();
      });
      this.process.on('exit', (code, signal) => {
        this.fail(new Error(`the writer of a Parquet file ended before the file did (${signal ?? code})`));
        resolve();
      });
    });
    this.process.on('error', (error) => this.fail(error));
    this.process.send(request, () => {}); // the exit event reports a process that has ended
  }

  async *write(rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const feeding = this.feed(rows).catch((error: unknown) => this.fail(error));
    try {
      for await (const chunk of this.file) yield chunk as Uint8Array;
      await this.finished;
      await feeding;
    } catch (error) {
      this.fail(error);
    }
    if (this.failure !== undefined) throw this.failure;
  }

  async end(): Promise<void> {
    this.stop.abort();
    this.file.destroy();
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await exited;
  }

  private async feed(rows: AsyncIterable<Uint8Array>): Promise<void> {
    const sink = new Socket({ fd: await this.openInput(), readable: false, writable: true });
    await pipeline(rows, sink, { signal: this.stop.signal });
    this.file.setTimeout(finishTimeoutMs, () => this.fail(new Error('the writer of a Parquet file does not end')));
  }

  // The writer must have opened its end first, or bytes written before would be lost.
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

  // The first failure is the cause; the others follow from it.
  private fail(error: unknown): void {
    this.failure ??= error;
    this.stop.abort();
    this.file.destroy();
  }
}

function errorOf({ problem, tooLong }: Extract<WriterMessage, { type: 'failed' }>): Error {
  if (!tooLong) return new Error(problem);
  return fileError(`A row has more than ${maxRowBytes} bytes, too many for Parquet; export as another format.`);
}

// DuckDB buffers some rows of the maximum length, so tables without long texts take far less
// memory.
function rowBytes(columns: readonly ExportColumn[]): number {
  const cellBytes = ({ dataType, precision }: ExportColumn) => {
    if (types[dataType] !== undefined || dataType === 'decimal') return 100;
    // Four bytes a character, and each may be a quote.
    return precision === undefined ? maxRowBytes : 8 * precision + 3;
  };
  const sum = columns.reduce((bytes, column) => bytes + cellBytes(column), 0);
  return Math.min(Math.max(sum, minRowBytes), maxRowBytes);
}

// Types with a counterpart in Parquet; any other is text.
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

// Decimals without a scale, or with more digits than readers support, are exact text.
function typeOf({ dataType, precision, scale = 0 }: ExportColumn): string {
  if (dataType !== 'decimal') return types[dataType] ?? 'VARCHAR';
  if (precision === undefined || precision > 38 || scale < 0 || scale > precision) return 'VARCHAR';
  return `DECIMAL(${precision}, ${scale})`;
}
