// The behaviour of every object store; run for the folder by a service test, for S3 by
// tests/deploy.
import { randomBytes } from 'node:crypto';
import { ServiceError } from '@almanac/service-kit/errors';
import { accountPrefix, newObjectKey, ObjectChanged, type ObjectStore } from './object-store.ts';

const MB = 1024 * 1024;

async function* once(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function* many(count: number, chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i += 1) yield chunk;
}

async function all(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const kindOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) => (error instanceof ServiceError ? error.kind : (error as Error).name),
  );

/** Changes one character of a URL's signature. */
function tamper(url: string): string {
  const changed = new URL(url);
  const name = [...changed.searchParams.keys()].find((key) => /signature$/i.test(key)) as string;
  const value = changed.searchParams.get(name) as string;
  changed.searchParams.set(name, (value.startsWith('a') ? 'b' : 'a') + value.slice(1));
  return changed.href;
}

/** `store` answers a started store whose pre-signed URLs can be fetched from here. */
export function describeObjectStore(name: string, store: () => ObjectStore): void {
  const key = () => newObjectKey(7, 'imports', 1);
  const download = { expiresSeconds: 60, fileName: 'countries.csv', contentType: 'text/csv; charset=utf-8' };

  describe(`object store ${name}`, () => {
    it('returns the bytes that were stored', async () => {
      const at = key();
      const stored = await store().put(at, once('a,b\n', '1,2\n'), { maxBytes: 100 });
      expect(stored.size).toBe(8);
      expect(await store().stat(at)).toEqual(stored);
      expect((await all(await store().read(at, stored.etag))).toString()).toBe('a,b\n1,2\n');
    });

    it('returns ranges of an object until it is replaced', async () => {
      const at = key();
      const { etag } = await store().put(at, once('0123456789'), { maxBytes: 10 });
      const part = async (start: number, end: number) =>
        (await all(await store().read(at, etag, { start, end }))).toString();
      expect([await part(0, 1), await part(3, 7), await part(9, 10)]).toEqual(['0', '3456', '9']);
      await store().put(at, once('9876543210'), { maxBytes: 10 });
      expect(await kindOf(store().read(at, etag, { start: 3, end: 7 }))).toBe('ObjectChanged');
    });

    it('stores an empty object and one of several parts', async () => {
      const empty = key();
      expect((await store().put(empty, once(), { maxBytes: 0 })).size).toBe(0);
      const large = key();
      const chunk = randomBytes(MB);
      const stored = await store().put(large, many(17, chunk), { maxBytes: 17 * MB });
      expect(stored.size).toBe(17 * MB);
      let size = 0;
      for await (const part of await store().read(large, stored.etag)) size += part.length;
      expect(size).toBe(17 * MB);
      await store().remove(large);
    });

    it('removes all objects under a prefix, and no others', async () => {
      const [one, two] = [newObjectKey(71, 'imports', 1), newObjectKey(71, 'exports', 2)];
      const [longer, shorter] = [newObjectKey(711, 'imports', 1), newObjectKey(7, 'imports', 1)];
      for (const at of [one, two, longer, shorter]) await store().put(at, once('x'), { maxBytes: 1 });
      await store().removeUnder(accountPrefix(71));
      expect([await store().stat(one), await store().stat(two)]).toEqual([undefined, undefined]);
      expect((await store().stat(longer))?.size).toBe(1);
      expect((await store().stat(shorter))?.size).toBe(1);
      await store().removeUnder(accountPrefix(71));
      await store().put(one, once('xy'), { maxBytes: 2 });
      expect((await store().stat(one))?.size).toBe(2);
    });

    it('finds no object that was not stored or was removed', async () => {
      const at = key();
      expect(await store().stat(at)).toBeUndefined();
      await store().remove(at);
      const { etag } = await store().put(at, once('x'), { maxBytes: 1 });
      await store().remove(at);
      expect(await store().stat(at)).toBeUndefined();
      expect(await kindOf(store().read(at, etag))).toBe('ObjectChanged');
    });

    it('accepts the limit and refuses one byte more, leaving nothing', async () => {
      const at = key();
      expect((await store().put(at, once('12345'), { maxBytes: 5 })).size).toBe(5);
      const over = key();
      expect(await kindOf(store().put(over, once('12345', '6'), { maxBytes: 5 }))).toBe('too_large');
      expect(await store().stat(over)).toBeUndefined();
      const chunk = new Uint8Array(MB);
      expect(await kindOf(store().put(over, many(18, chunk), { maxBytes: 17 * MB }))).toBe('too_large');
      expect(await store().stat(over)).toBeUndefined();
    });

    it('shows nothing of an object whose source fails', async () => {
      const at = key();
      const broken = async function* () {
        yield new Uint8Array(10 * MB);
        expect(await store().stat(at)).toBeUndefined();
        throw new ServiceError('unavailable', 'the source failed');
      };
      expect(await kindOf(store().put(at, broken(), { maxBytes: 100 * MB }))).toBe('unavailable');
      expect(await store().stat(at)).toBeUndefined();
      expect(await store().sweep(0)).toBe(0);
    });

    it('keeps the old object until the new one is complete, and reads only the pinned one', async () => {
      const at = key();
      const first = await store().put(at, once('one'), { maxBytes: 10 });
      const failing = async function* () {
        yield Buffer.from('tw');
        throw new ServiceError('bad_request', { code: 'malformed', message: 'cut off' });
      };
      expect(await kindOf(store().put(at, failing(), { maxBytes: 10 }))).toBe('bad_request');
      expect((await all(await store().read(at, first.etag))).toString()).toBe('one');
      const second = await store().put(at, once('two'), { maxBytes: 10 });
      expect(second.etag).not.toBe(first.etag);
      await expect(store().read(at, first.etag)).rejects.toBeInstanceOf(ObjectChanged);
      expect((await all(await store().read(at, second.etag))).toString()).toBe('two');
    });

    it('lets a client upload by a pre-signed URL, and only by that', async () => {
      const at = key();
      const url = await store().presignPut(at, { expiresSeconds: 60 });
      const refused = await fetch(tamper(url), { method: 'PUT', body: 'evil' });
      expect(refused.status).toBe(403);
      expect((await fetch(url)).status).toBe(403);
      expect((await fetch(url, { method: 'DELETE' })).ok).toBe(false);
      expect(await store().stat(at)).toBeUndefined();
      const taken = await fetch(url, { method: 'PUT', body: 'a,b\n1,2\n' });
      expect(taken.status).toBe(200);
      const stored = await store().stat(at);
      expect(stored?.size).toBe(8);
      expect(taken.headers.get('etag')?.replaceAll('"', '')).toBe(stored?.etag);
    });

    it('lets a client download by a pre-signed URL with its name and type, and only by that', async () => {
      const at = key();
      await store().put(at, once('a,b\n1,2\n'), { maxBytes: 100 });
      const url = await store().presignGet(at, download);
      const answer = await fetch(url);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(answer.headers.get('content-disposition')).toBe('attachment; filename="countries.csv"');
      expect(await answer.text()).toBe('a,b\n1,2\n');
      const part = await fetch(url, { headers: { Range: 'bytes=4-6' } });
      expect(part.status).toBe(206);
      expect(await part.text()).toBe('1,2');
      expect((await fetch(tamper(url))).status).toBe(403);
      expect((await fetch(url, { method: 'PUT', body: 'evil' })).status).toBe(403);
      const bare = new URL(url);
      bare.search = '';
      expect((await fetch(bare)).status).toBe(403);
      const other = key();
      await store().put(other, once('secret'), { maxBytes: 100 });
      expect((await fetch(url.replace(at, other))).status).toBe(403);
      const renamed = new URL(url);
      for (const [name, value] of renamed.searchParams)
        if (value.includes('countries.csv'))
          renamed.searchParams.set(name, value.replace('countries.csv', 'evil.html'));
      expect((await fetch(renamed)).status).toBe(403);
    });

    it('refuses an expired link, and answers 404 for a removed object', async () => {
      const at = key();
      await store().put(at, once('x'), { maxBytes: 1 });
      const short = await store().presignGet(at, { ...download, expiresSeconds: 1 });
      const long = await store().presignGet(at, download);
      const statusOf = async (url: string) => (await fetch(url)).status;
      for (let tries = 0; tries < 60 && (await statusOf(short)) === 200; tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await statusOf(short)).toBe(403);
      await store().remove(at);
      expect(await statusOf(long)).toBe(404);
    });
  });
}
