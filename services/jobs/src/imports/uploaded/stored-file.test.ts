import type { Range } from '../../files/object-store/object-store.ts';
import { storedFile } from './stored-file.ts';

const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 256));

function given() {
  const store = {
    read: async (_key: string, _etag: string, { start, end }: Range = { start: 0, end: bytes.length }) =>
      (async function* () {
        for (let at = start; at < end; at += 100) yield bytes.subarray(at, Math.min(end, at + 100));
      })(),
  };
  const progress = { bytes: 0 };
  const table = { id: 1, account_id: 1, import_id: 1, object_key: 'k', object_size: 1000n, object_etag: 'e' };
  const source = storedFile({ store } as never, table as never, progress, new AbortController().signal);
  const seen: number[] = [];
  const read = async (from: AsyncIterable<Uint8Array>) => {
    for await (const _chunk of from) seen.push(progress.bytes);
  };
  return { source, progress, seen, read };
}

describe('the progress of a stored file', () => {
  it('counts the bytes read, from any range', async () => {
    const { source, progress, seen, read } = given();
    await read(source.range(0, 50));
    await read(source.range(900, 1000));
    expect(progress.bytes).toBe(150);
    await read(source.range(0, 500));
    expect(progress.bytes).toBe(650);
    await Promise.all([read(source.range(500, 700)), read(source.range(700, 750))]);
    expect(progress.bytes).toBe(900);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  it('never exceeds the file, whose ranges may be read twice', async () => {
    const { source, progress, seen, read } = given();
    for (let time = 0; time < 3; time += 1) await read(source.range(0, 700));
    expect([progress.bytes, Math.max(...seen)]).toEqual([1000, 1000]);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  it('restarts when the whole file is read again', async () => {
    const { source, progress, seen, read } = given();
    await read(source.range(0, 400));
    await read(source.open());
    expect([progress.bytes, seen.slice(4, 7)]).toEqual([1000, [100, 200, 300]]);
    await read(source.open());
    expect([progress.bytes, seen.at(-1), seen.at(-10)]).toEqual([1000, 1000, 100]);
  });
});
