// The process that reads a file (`isolated-reader.ts`), started with its format and size. It
// requests bytes and has no other input.
import { ServiceError } from '@almanac/service-kit/errors';
import { openParquet } from '../parquet/parquet-reader.ts';
import { type ColumnTarget, type FileSource, SourceFailed } from '../table-file/table-file.ts';
import { openXlsx } from '../xlsx/xlsx-reader.ts';
import type { FromWorker, IsolatedFormat, ToWorker } from './isolated-messages.ts';

const pieceBytes = 1024 * 1024;
const [format, size] = [process.argv[2] as IsolatedFormat, Number(process.argv[3])];
const send = (message: FromWorker) => void process.send?.(message);

const pending = new Map<number, (bytes: Uint8Array | undefined) => void>();
const inbox: Exclude<ToWorker, { type: 'bytes' }>[] = [];
let wake = () => {};
let requested = 0;

// The parent process has ended.
process.on('disconnect', () => process.exit());
process.on('message', (message: ToWorker) => {
  if (message.type === 'bytes') {
    pending.get(message.id)?.(message.bytes);
    pending.delete(message.id);
    return;
  }
  inbox.push(message);
  wake();
});

async function receive(): Promise<(typeof inbox)[number]> {
  for (;;) {
    const next = inbox.shift();
    if (next) return next;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

const source: FileSource = {
  size,
  open: () => source.range(0, size),
  range: async function* (start, end) {
    for (let at = start; at < end; at += pieceBytes) {
      const piece = await new Promise<Uint8Array | undefined>((resolve) => {
        requested += 1;
        pending.set(requested, resolve);
        send({ type: 'range', id: requested, start: at, end: Math.min(end, at + pieceBytes) });
      });
      if (!piece) throw new SourceFailed();
      yield piece;
    }
  },
  spool: () => {
    throw new Error('a reader in a process of its own keeps nothing');
  },
};

async function run(): Promise<void> {
  const file = await (format === 'xlsx' ? openXlsx(source) : openParquet(source));
  send({ type: 'opened', header: file.header, layout: file.layout });
  const first = await receive();
  const targets: (ColumnTarget | undefined)[] = first.type === 'targets' ? first.targets : [];
  for await (const bytes of file.rows(targets)) {
    await receive();
    send({ type: 'chunk', bytes, seen: file.rowsRead() });
  }
  await receive();
  send({ type: 'end', seen: file.rowsRead() });
}

try {
  await run();
} catch (error) {
  const { kind, problems } =
    error instanceof ServiceError
      ? error
      : { kind: undefined, problems: [{ code: 'internal', message: String(error) } as const] };
  send({ type: 'failed', kind, problems });
}
// The parent process kills this one.
