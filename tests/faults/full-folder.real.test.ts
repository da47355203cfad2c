// The disk of the folder store is full: nothing new is stored, no partial file is visible or left,
// stored files can be read, and room is all it needs to recover. Needs root on Linux, for a small
// file system of its own.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFolderStore } from '../../services/jobs/src/files/object-store/folder-store.ts';
import { newObjectKey } from '../../services/jobs/src/files/object-store/object-store.ts';

const megabyte = Buffer.alloc(1024 * 1024, 'x');
const megabytes = async function* (count: number) {
  for (let n = 0; n < count; n += 1) yield megabyte;
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-small-folder-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0755', 'tmpfs', folder]);
});
afterAll(() => {
  execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
});

it('a full disk refuses what does not fit as unavailable, leaves none of it, and recovers when there is room', async () => {
  const store = createFolderStore({ folder, publicUrl: 'http://127.0.0.1', secret: new Uint8Array(32) });
  await store.start();
  const put = (key: string, count: number) => store.put(key, megabytes(count), { maxBytes: 1024 ** 3 });
  const [first, second] = [newObjectKey(1, 'exports', 1), newObjectKey(1, 'exports', 2)];
  const stored = await put(first, 5);
  for (let tries = 0; tries < 3; tries += 1) {
    await expect(put(second, 5)).rejects.toMatchObject({ kind: 'unavailable' }); // the work waits
    expect(await store.stat(second)).toBeUndefined();
    expect(readdirSync(join(folder, 'unfinished'))).toEqual([]);
  }
  let read = 0;
  for await (const chunk of await store.read(first, stored.etag)) read += chunk.length;
  expect(read).toBe(5 * megabyte.length);
  await store.remove(first);
  expect((await put(second, 5)).size).toBe(5 * megabyte.length);
});
