// Reads formats whose readers could be led astray (archives, XML, binary pages) in a process of its own with bounded memory: a file
// that takes more ends its reader and its import, and nothing else. A thread would not do: what fills the memory of one at a stroke ends
// the whole process. The reader gets no environment, and no bytes but those it asks for.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '@almanac/service-kit/errors';
import { fileError } from '../table-file/file-error.ts';
import type { FileSource, TableFile } from '../table-file/table-file.ts';
import type { FromWorker, IsolatedFormat, ToWorker } from './isolated-messages.ts';

// The memory of the container (deploy/k8s) is that of the service and of as many readers as it runs jobs at once.
const mostMegabytes = 192;
/** Work on a part of a file takes far less, however busy the machine is. */
const patienceMs = 120_000;

type Answer = Exclude<FromWorker, { type: 'range' }>;

/** Reads up to the header. */
export async function openIsolated(
  source: FileSource,
  format: IsolatedFormat,
  megabytes = mostMegabytes,
): Promise<TableFile> {
  const reader = new IsolatedReader(source, format, megabytes);
  try {
    const opened = await reader.answer();
    if (opened.type !== 'opened') throw new Error(`a reader began with ${opened.type}`);
    let seen = 0;
    return {
      format,
      header: opened.header,
      layout: opened.layout,
      rows: async function* (places) {
        reader.say({ type: 'places', places: [...places] });
        for (;;) {
          reader.say({ type: 'next' });
          const next = await reader.answer();
          if (next.type !== 'chunk' && next.type !== 'end') throw new Error(`a reader went on with ${next.type}`);
          seen = next.seen;
          if (next.type === 'end') return;
          yield next.bytes;
        }
      },
      rowsSeen: () => seen,
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
  private readonly answers: Answer[] = [];
  private failure: unknown;
  private away: unknown; // why bytes could not be had
  private reading = 0;
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
      if (message.type === 'range') return void this.send(message);
      this.answers.push(message);
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

  say(message: ToWorker): void {
    if (this.worker.connected) this.worker.send(message, () => {}); // what can't be sent any more is told by its end
  }

  /** The next thing it says, or why it says nothing any more. */
  async answer(): Promise<Answer> {
    for (;;) {
      const next = this.answers.shift();
      if (next?.type === 'failed') throw this.away ?? errorOf(next);
      if (next) return next;
      if (this.failure !== undefined) throw this.failure;
      await this.stir();
    }
  }

  // Waiting for bytes is no fault of the reader; being busy for ever is.
  private async stir(): Promise<void> {
    const timer = setTimeout(() => {
      if (this.reading > 0) return void timer.refresh();
      this.fail(fileError('Reading the file takes more time than an import may have; it may be damaged.'));
    }, patienceMs);
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    if (this.worker.exitCode !== null || this.worker.signalCode !== null) return;
    const gone = new Promise((resolve) => this.worker.once('exit', resolve));
    this.worker.kill('SIGKILL');
    await gone;
  }

  // The first failure is the reason; the others follow from it.
  private fail(error: unknown): void {
    this.failure ??= error;
    this.wake();
  }

  private async send({ id, start, end }: { id: number; start: number; end: number }): Promise<void> {
    this.reading += 1;
    try {
      const parts: Uint8Array[] = [];
      for await (const part of this.source.range(start, end)) parts.push(part);
      this.say({ type: 'bytes', id, bytes: Buffer.concat(parts) });
    } catch (error) {
      this.away ??= error;
      this.say({ type: 'bytes', id, bytes: undefined });
    } finally {
      this.reading -= 1;
    }
  }
}

function errorOf({ kind, problems }: Extract<Answer, { type: 'failed' }>): Error {
  return kind === undefined ? new Error(problems.join(' ')) : new ServiceError(kind, problems);
}
