// Reads formats whose readers could be led astray (archives, XML, binary pages) in a thread of its own with bounded memory: a file
// that takes more ends its thread and its import, and nothing else. The thread gets no bytes but those it asks for.
import { Worker } from 'node:worker_threads';
import { ServiceError } from '@almanac/service-kit/errors';
import { fileError } from '../csv/file-error.ts';
import type { FromWorker, IsolatedFormat, ToWorker, WorkerStart } from './isolated-messages.ts';
import type { FileSource, TableFile } from './table-file.ts';

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
  private readonly worker: Worker;
  private readonly source: FileSource;
  private readonly answers: Answer[] = [];
  private failure: unknown;
  private away: unknown; // why bytes could not be had
  private reading = 0;
  private wake = () => {};

  constructor(source: FileSource, format: IsolatedFormat, megabytes: number) {
    this.source = source;
    const workerData: WorkerStart = { format, size: source.size };
    this.worker = new Worker(new URL('./isolated-worker.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: megabytes },
      env: {},
    });
    this.worker.on('message', (message: FromWorker) => {
      if (message.type === 'range') return void this.send(message);
      this.answers.push(message);
      this.wake();
    });
    this.worker.on('error', (error: NodeJS.ErrnoException) => {
      this.fail(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? fileError('Reading the file takes more memory than an import may have; send it as CSV or NDJSON.', error)
          : error,
      );
    });
    this.worker.on('exit', () => this.fail(new Error('the reader of a file ended before the file did')));
  }

  say(message: ToWorker): void {
    this.worker.postMessage(message);
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
    await this.worker.terminate();
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
