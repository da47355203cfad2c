// The process in which a file is read (`isolated-file.ts`), started with its format and size. It asks for bytes and for nothing else.
import { ServiceError } from '@almanac/service-kit/errors';
import { openParquet } from '../parquet/parquet-reader.ts';
import { type FileSource, type Place, SourceFailed } from '../table-file/table-file.ts';
import { openXlsx } from '../xlsx/xlsx-reader.ts';
import type { FromWorker, IsolatedFormat, ToWorker } from './isolated-messages.ts';

const pieceBytes = 1024 * 1024;
const [format, size] = [process.argv[2] as IsolatedFormat, Number(process.argv[3])];
const say = (message: FromWorker) => void process.send?.(message);

const wanted = new Map<number, (bytes: Uint8Array | undefined) => void>();
const inbox: Exclude<ToWorker, { type: 'bytes' }>[] = [];
let wake = () => {};
let asked = 0;

// Nobody is left who wants to know.
process.on('disconnect', () => process.exit());
process.on('message', (message: ToWorker) => {
  if (message.type === 'bytes') {
    wanted.get(message.id)?.(message.bytes);
    wanted.delete(message.id);
    return;
  }
  inbox.push(message);
  wake();
});

async function hear(): Promise<(typeof inbox)[number]> {
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
        asked += 1;
        wanted.set(asked, resolve);
        say({ type: 'range', id: asked, start: at, end: Math.min(end, at + pieceBytes) });
      });
      if (!piece) throw new SourceFailed();
      yield piece;
    }
  },
  keep: () => {
    throw new Error('a reader in a process of its own keeps nothing');
  },
};

async function run(): Promise<void> {
  const file = await (format === 'xlsx' ? openXlsx(source) : openParquet(source));
  say({ type: 'opened', header: file.header, layout: file.layout });
  const first = await hear();
  const places: (Place | undefined)[] = first.type === 'places' ? first.places : [];
  for await (const bytes of file.rows(places)) {
    await hear();
    say({ type: 'chunk', bytes, seen: file.rowsSeen() });
  }
  await hear();
  say({ type: 'end', seen: file.rowsSeen() });
}

try {
  await run();
} catch (error) {
  const known = error instanceof ServiceError;
  say({ type: 'failed', kind: known ? error.kind : undefined, problems: known ? error.errors : [String(error)] });
}
// It is ended by whoever started it.
