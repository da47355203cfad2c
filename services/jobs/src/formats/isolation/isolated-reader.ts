// Reads formats with vulnerable readers (archives, XML, binary pages) in a child process with
// bounded memory: a file that needs more ends its reader and its import, and nothing else. A thread
// would not do, since an allocation beyond its memory ends the whole process. The reader gets no
// environment, and only the bytes that it requests.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '@almanac/service-kit/errors';
import { messagesOf } from '@almanac/service-kit/problems';
import { fileError } from '../table-file/file-error.ts';
import type { FileSource, TableFile } from '../table-file/table-file.ts';
import type { FromWorker, IsolatedFormat, ToWorker } from './isolated-messages.ts';

// The container's memory (deploy/k8s) covers the service and one reader for each concurrent job.
const defaultMegabytes = 192;
/** Processing a part of a file takes far less time, however busy the machine is. */
const stallTimeoutMs = 120_000;

type ReaderMessage = Exclude<FromWorker, { type: 'range' }>;

/** Reads up to the header. */
export async function openIsolated(
  source: FileSource,
  format: IsolatedFormat,
  megabytes = defaultMegabytes,
): Promise<TableFile> {
  const reader = new IsolatedReader(source, format, megabytes);
  try {
    const opened = await reader.nextMessage();
    if (opened.type !== 'opened') throw new Error(`a reader began with ${opened.type}`);
    let seen = 0;
    return {
      format,
      header: opened.header,
      layout: opened.layout,
      rows: async function* (targets) {
        reader.send({ type: 'targets', targets: [...targets] });
        for (;;) {
          reader.send({ type: 'next' });
          const next = await reader.nextMessage();
          if (next.type !== 'chunk' && next.type !== 'end') throw new Error(`a reader went on with ${next.type}`);
          seen = next.seen;
          if (next.type === 'end') return;
          yield next.bytes;
        }
      },
      rowsRead: () => seen,
      close: () => reader.close(),
    };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

class IsolatedReader {
  private readonly worker: ChildProcess;
  private readonly source: FileSource;
  private readonly messages: ReaderMessage[] = [];
  private failure: unknown;
  private sourceError: unknown; // why the source failed
  private readsInFlight = 0;
  private wake = () => {};

  constructor(source: FileSource, format: IsolatedFormat, megabytes: number) {
    this.source = source;
    this.worker = fork(fileURLToPath(new URL('./isolated-worker.ts', import.meta.url)), [format, String(source.size)], {
      execArgv: [`--max-old-space-size=${megabytes}`],
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.worker.on('message', (message: FromWorker) => {
      if (message.type === 'range') return void this.sendBytes(message);
      this.messages.push(message);
      this.wake();
    });
    this.worker.on('error', (error) => this.fail(error));
    // Node aborts when its memory is full, the system kills.
    this.worker.on('exit', (code, signal) =>
      this.fail(
        code === 134 || signal === 'SIGABRT' || signal === 'SIGKILL'
          ? fileError('Reading the file takes more memory than an import may have; send it as CSV or NDJSON.')
          : new Error(`the reader of a file ended before the file did (${signal ?? code})`),
      ),
    );
  }

  send(message: ToWorker): void {
    // The exit event reports a process that has ended.
    if (this.worker.connected) this.worker.send(message, () => {});
  }

  /** The next message of the reader, or the reason why there is none. */
  async nextMessage(): Promise<ReaderMessage> {
    for (;;) {
      const next = this.messages.shift();
      if (next?.type === 'failed') throw this.sourceError ?? errorOf(next);
      if (next) return next;
      if (this.failure !== undefined) throw this.failure;
      await this.waitForMessage();
    }
  }

  // Waiting for bytes is not the reader's fault; being busy for ever is.
  private async waitForMessage(): Promise<void> {
    const timer = setTimeout(() => {
      if (this.readsInFlight > 0) return void timer.refresh();
      this.fail(fileError('Reading the file takes more time than an import may have; it may be damaged.'));
    }, stallTimeoutMs);
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    if (this.worker.exitCode !== null || this.worker.signalCode !== null) return;
    const exited = new Promise((resolve) => this.worker.once('exit', resolve));
    this.worker.kill('SIGKILL');
    await exited;
  }

  // The first failure is the cause; the others follow from it.
  private fail(error: unknown): void {
    this.failure ??= error;
    this.wake();
  }

  private async sendBytes({ id, start, end }: { id: number; start: number; end: number }): Promise<void> {
    this.readsInFlight += 1;
    try {
      const parts: Uint8Array[] = [];
      for await (const part of this.source.range(start, end)) parts.push(part);
      this.send({ type: 'bytes', id, bytes: Buffer.concat(parts) });
    } catch (error) {
      this.sourceError ??= error;
      this.send({ type: 'bytes', id, bytes: undefined });
    } finally {
      this.readsInFlight -= 1;
    }
  }
}

function errorOf({ kind, problems }: Extract<ReaderMessage, { type: 'failed' }>): Error {
  return kind === undefined ? new Error(messagesOf(problems).join(' ')) : new ServiceError(kind, problems);
}
