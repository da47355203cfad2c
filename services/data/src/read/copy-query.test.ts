import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { CopyQuery } from './copy-query.ts';

const message = (kind: string, content: Uint8Array) => {
  const bytes = Buffer.alloc(5 + content.length);
  bytes.write(kind);
  bytes.writeInt32BE(4 + content.length, 1);
  bytes.set(content, 5);
  return bytes;
};

// What PostgreSQL sends, and what `pg` should get of it.
const begin = [message('H', Buffer.alloc(7)), message('N', Buffer.from('a notice'))];
const ending = Buffer.concat([message('c', Buffer.alloc(0)), message('C', Buffer.from('COPY 3\0'))]);

async function copy(sent: Buffer, pieces: number[], chunkBytes: number) {
  const stream = new PassThrough();
  const passedOn: Buffer[] = [];
  stream.on('data', (bytes: Buffer) => passedOn.push(bytes));
  const query = new CopyQuery('copy …', chunkBytes, 2);
  query.submit({ stream: stream as never, query: () => {} });
  const taken: Buffer[] = [];
  const taking = (async () => {
    for await (const chunk of query.chunks()) taken.push(chunk);
  })();
  let at = 0;
  for (const size of pieces) {
    if (at >= sent.length) break;
    stream.write(sent.subarray(at, at + size));
    at += size;
  }
  stream.end(sent.subarray(at));
  while (Buffer.concat(passedOn).length < ending.length) await new Promise((resolve) => setImmediate(resolve));
  query.handleCommandComplete({ text: 'COPY 3' });
  query.handleReadyForQuery();
  await taking;
  return { taken, passedOn: Buffer.concat(passedOn), rows: query.rows };
}

describe('rows of a COPY', () => {
  it('are the same bytes wherever the connection cuts them, and the rest is for the driver', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 50 }),
        async (rows, pieces, chunkBytes) => {
          const sent = Buffer.concat([...begin, ...rows.map((row) => message('d', row)), ending]);
          const got = await copy(sent, pieces, chunkBytes);
          expect(Buffer.concat(got.taken)).toEqual(Buffer.concat(rows));
          expect(got.taken.slice(0, -1).every((chunk) => chunk.length === chunkBytes)).toBe(true);
          expect(got.passedOn).toEqual(ending);
          expect(got.rows).toBe(3);
        },
      ),
    );
  });

  it('end with the error that the driver tells', async () => {
    const stream = new PassThrough();
    stream.on('data', () => {});
    const query = new CopyQuery('copy …', 8, 2);
    query.submit({ stream: stream as never, query: () => {} });
    stream.write(message('d', Buffer.from('0123456789')));
    const taking = (async () => {
      for await (const chunk of query.chunks()) expect(String(chunk)).toBe('01234567');
    })();
    query.handleError(new Error('cut off'));
    await expect(taking).rejects.toThrow('cut off');
  });
});
