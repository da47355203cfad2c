import { type FileHandle, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toServiceError } from '@almanac/service-kit/errors';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import express, { type NextFunction, type Request, type Response } from 'express';
import { mountFolderServer } from '../../src/files/object-store/folder-server.ts';
import { createFolderStore, type FolderStore } from '../../src/files/object-store/folder-store.ts';
import { describeObjectStore } from '../../src/files/object-store/object-store.suite.ts';
import { contentDisposition, keyOfLink, newObjectKey } from '../../src/files/object-store/object-store.ts';

let folder: string;
let server: Server;
let store: FolderStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-files-'));
  const app = express();
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  store = createFolderStore({ folder, publicUrl, secret: Buffer.alloc(32, 7) });
  await store.start();
  mountFolderServer(app, store, { maxBytes: 1000, requireUpload: async () => {} });
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    const known = toServiceError(error);
    res.status(known.status).json(known.body);
  });
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

describeObjectStore('file://', () => store);

describe('a pre-signed link', () => {
  it('names its object', async () => {
    const key = newObjectKey(7, 'imports', 12);
    expect(keyOfLink(await store.presignPut(key, { expiresSeconds: 60 }))).toBe(key);
    expect(keyOfLink(`https://files.example/almanac/${key}?X-Amz-Signature=1`)).toBe(key);
    expect(() => keyOfLink('https://files.example/almanac/else')).toThrow('not an object key');
  });
});

describe('the folder store', () => {
  const put = (key: string, body: string, headers: Record<string, string> = {}) =>
    store.presignPut(key, { expiresSeconds: 60 }).then((url) => fetch(url, { method: 'PUT', body, headers }));

  it('accepts as many bytes as allowed and refuses one more', async () => {
    expect((await put(newObjectKey(1, 'imports', 1), 'x'.repeat(1000))).status).toBe(200);
    const over = newObjectKey(1, 'imports', 2);
    expect((await put(over, 'x'.repeat(1001))).status).toBe(413);
    expect(await store.stat(over)).toBeUndefined();
  });

  it('refuses one more even without a declared length', async () => {
    const key = newObjectKey(1, 'imports', 1);
    const url = await store.presignPut(key, { expiresSeconds: 60 });
    async function* body() {
      for (let sent = 0; sent < 100; sent += 1) yield new Uint8Array(600);
    }
    const sent = fetch(url, { method: 'PUT', body: body(), duplex: 'half' } as unknown as RequestInit);
    // The server may answer and close before everything was sent.
    const status = await sent.then((answer) => answer.status).catch(() => 413);
    expect(status).toBe(413);
    expect(await store.stat(key)).toBeUndefined();
  });

  it('checks Content-MD5 and refuses compressed transfers', async () => {
    const key = newObjectKey(1, 'imports', 1);
    expect((await put(key, 'abc', { 'Content-MD5': 'AAAAAAAAAAAAAAAAAAAAAA==' })).status).toBe(400);
    expect((await put(key, 'abc', { 'Content-Encoding': 'gzip' })).status).toBe(415);
    expect(await store.stat(key)).toBeUndefined();
    expect((await put(key, 'abc', { 'Content-MD5': 'kAFQmDzST7DWlj99KOF/cg==' })).status).toBe(200);
  });

  it('keeps nothing of an aborted upload', async () => {
    const key = newObjectKey(1, 'imports', 1);
    const url = await store.presignPut(key, { expiresSeconds: 60 });
    await new Promise<void>((resolve) => {
      const sending = request(url, { method: 'PUT', headers: { 'Content-Length': 500 } });
      sending.on('error', () => resolve());
      sending.write('x'.repeat(100), () => setTimeout(() => sending.destroy(), 50));
      sending.on('close', () => resolve());
    });
    const unfinished = () => readdir(join(folder, 'unfinished'));
    await eventually(async () => expect(await unfinished()).toEqual([]));
    expect(await store.stat(key)).toBeUndefined();
  });

  it('keeps nothing of a large object when the disk fails before its end', async () => {
    const probe = await open(join(folder, 'probe'), 'w');
    const handles = Object.getPrototypeOf(probe) as FileHandle;
    await probe.close();
    const { datasync } = handles;
    const fault = Object.assign(new Error('EIO'), { errno: -5, code: 'EIO' });
    handles.datasync = () => Promise.reject(fault);
    async function* large() {
      for (let sent = 0; sent < 40; sent += 1) yield new Uint8Array(1024 ** 2);
    }
    const key = newObjectKey(1, 'exports', 1);
    try {
      const failed = store.put(key, large(), { maxBytes: 1024 ** 3 });
      await expect(failed).rejects.toMatchObject({ kind: 'unavailable', cause: fault });
    } finally {
      handles.datasync = datasync;
    }
    expect(await store.stat(key)).toBeUndefined();
    expect(await store.put(key, large(), { maxBytes: 1024 ** 3 })).toMatchObject({ size: 40 * 1024 ** 2 });
  });

  it('fails with what its source fails with, so that a database that is away is no fault of ours', async () => {
    const ended = Object.assign(new Error('terminating connection'), { code: '57P02', severity: 'FATAL' });
    const source = async function* () {
      yield Buffer.from('a');
      throw ended;
    };
    await expect(store.put(newObjectKey(1, 'imports', 1), source(), { maxBytes: 10 })).rejects.toBe(ended);
    expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
  });

  it('sweeps what a killed process left behind', async () => {
    await writeFile(join(folder, 'unfinished', 'left'), 'x');
    expect(await store.sweep(3600)).toBe(0);
    expect(await store.sweep(-1)).toBe(1);
  });

  it('never leaves its folder', () => {
    for (const key of ['../x', 'a/../../x', '/etc/passwd', 'a//b', 'a/./b', 'a\0b', 'A/b', ''])
      expect(() => store.pathOf(key)).toThrow('not an object key');
  });

  it('refuses a range beyond the file, and a file that was replaced', async () => {
    const key = newObjectKey(1, 'exports', 1);
    await store.put(key, [Buffer.from('0123456789')] as unknown as AsyncIterable<Uint8Array>, { maxBytes: 100 });
    const url = await store.presignGet(key, { expiresSeconds: 60, fileName: 'x.csv', contentType: 'text/csv' });
    const beyond = await fetch(url, { headers: { Range: 'bytes=999999-' } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    expect(await beyond.json()).toEqual(
      refusal(
        'Range not satisfiable',
        'out_of_range',
        'The file has no such range of bytes; Content-Range tells how many it has.',
      ),
    );
    const changed = await fetch(url, { headers: { Range: 'bytes=4-', 'If-Match': '"another"' } });
    expect([changed.status, await changed.json()]).toMatchObject([412, { error: 'Precondition failed' }]);
    expect((await fetch(url, { headers: { Range: 'bytes=4-' } })).status).toBe(206);
  });

  it('answers downloads in a form that browsers never run', async () => {
    const key = newObjectKey(1, 'exports', 1);
    await store.put(key, [Buffer.from('<script>')] as unknown as AsyncIterable<Uint8Array>, { maxBytes: 100 });
    const url = await store.presignGet(key, { expiresSeconds: 60, fileName: 'ä"b.csv', contentType: 'text/csv' });
    const answer = await fetch(url);
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="__b.csv"; filename*=UTF-8''%C3%A4%22b.csv`,
    );
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(contentDisposition('plain.csv')).toBe('attachment; filename="plain.csv"');
  });
});
