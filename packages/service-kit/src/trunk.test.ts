import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { eventually } from '@almanac/testkit/eventually';
import fc from 'fast-check';
import { type Strand, Trunk, windowBytes } from './trunk.ts';
import { type Frame, FrameReader, FrameWriter, frameTypes, mostInFrame } from './trunk-frames.ts';

const nothing = Buffer.alloc(0);
let server: Server;
let near: Trunk;
let far: Trunk;
let nearSocket: Socket;
let farSocket: Socket;
/** What the far side does with a strand. */
let serve: (strand: Strand) => void;

beforeEach(async () => {
  serve = (strand) => strand.pipe(strand);
  server = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const accepted = once(server, 'connection');
  nearSocket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  [farSocket] = (await accepted) as [Socket];
  near = new Trunk(nearSocket, nothing);
  far = new Trunk(farSocket, nothing, (strand) => {
    strand.on('error', () => {});
    serve(strand);
  });
});
afterEach(async () => {
  near.destroy();
  far.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const bothAre = (size: number) => eventually(() => expect([near.size, far.size]).toEqual([size, size]));

describe('frames', () => {
  const frame = fc.record({
    type: fc.constantFrom(...Object.values(frameTypes)),
    id: fc.nat({ max: 0xffff_ffff }),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.nat({ max: mostInFrame }).map((length) => Buffer.alloc(length, length % 251)),
    ),
  });

  /** Data may come in more parts than it was sent in. */
  const joined = (frames: Frame[]) => {
    const all: Frame[] = [];
    for (const { type, id, payload } of frames) {
      const before = all.at(-1);
      if (type === frameTypes.data && before?.type === type && before.id === id)
        before.payload = Buffer.concat([before.payload, payload]);
      else all.push({ type, id, payload });
    }
    return all;
  };

  it('come out as they went in, wherever the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        async (sent, cuts) => {
          const written: Buffer[] = [];
          const socket = { destroyed: false, cork() {}, uncork() {}, write: (bytes: Buffer) => written.push(bytes) };
          const writer = new FrameWriter(socket as unknown as Socket);
          for (const { type, id, payload } of sent) writer.write(type, id, payload);
          writer.flush();
          const bytes = Buffer.concat(written);
          const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
          const reader = new FrameReader();
          const parts = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
          const received = parts.flatMap((part) => reader.read(part));
          expect(joined(received)).toEqual(joined(sent));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('of one turn leave in one write', async () => {
    const writes: number[] = [];
    const writev = nearSocket._writev?.bind(nearSocket);
    const write = nearSocket._write.bind(nearSocket);
    nearSocket._write = (bytes, encoding, done) => {
      writes.push(bytes.length);
      write(bytes, encoding, done);
    };
    nearSocket._writev = (chunks, done) => {
      writes.push(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0));
      writev?.(chunks, done);
    };
    const strands = Array.from({ length: 50 }, () => near.open());
    const long = 'x'.repeat(20_000);
    const answers = strands.map((strand, i) => {
      strand.end(i % 10 === 0 ? Buffer.from(long) : `question ${i}`);
      return text(strand);
    });
    expect(await Promise.all(answers)).toEqual(strands.map((_, i) => (i % 10 === 0 ? long : `question ${i}`)));
    expect(writes[0]).toBeGreaterThan(3 * long.length);
    // The questions; then what is said of strands that have ended, as answers come.
    expect(writes.length).toBeLessThan(25);
  });
});

describe('strands', () => {
  it('carry all bytes both ways, each its own, and end on both sides', async () => {
    const body = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 30 }),
        fc.nat({ max: 3 * windowBytes }).map((length) => Buffer.alloc(length, `${length}.`)),
      ),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 8 }), async (bodies) => {
        const received = bodies.map((parts) => {
          const strand = near.open();
          for (const part of parts) strand.write(part);
          strand.end();
          return buffer(strand);
        });
        const expected = bodies.map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));
        for (const [i, bytes] of (await Promise.all(received)).entries())
          expect(bytes.equals(expected[i] as Buffer)).toBe(true);
        await bothAre(0);
      }),
      { numRuns: 25 },
    );
  });

  it('write texts in the encoding they are given in', async () => {
    const strand = near.open();
    strand.write('é', 'latin1');
    strand.end('é', 'utf8');
    expect(await buffer(strand)).toEqual(Buffer.from([0xe9, 0xc3, 0xa9]));
  });

  it('hold no more than a window of what nobody reads, and hold up nobody else', async () => {
    const unread: Strand[] = [];
    serve = (strand) => void unread.push(strand);
    const slow = near.open();
    const size = 8 * windowBytes;
    slow.end(Buffer.alloc(size, 7));
    await eventually(() => expect(unread).toHaveLength(1));
    serve = (strand) => strand.pipe(strand);
    for (let i = 0; i < 20; i += 1) {
      const quick = near.open();
      quick.end('quick');
      expect(await text(quick)).toBe('quick');
    }
    expect(slow.writableFinished).toBe(false);
    const [strand] = unread as [Strand];
    expect(strand.readableLength).toBeLessThanOrEqual(windowBytes);
    const [received] = await Promise.all([buffer(strand), once(slow, 'finish')]);
    expect(received.equals(Buffer.alloc(size, 7))).toBe(true);
  });

  it('end on both sides when one lets go of them; the others go on', async () => {
    const given: Strand[] = [];
    serve = (strand) => void given.push(strand);
    const [kept, dropped] = [near.open(), near.open()];
    kept.write('a');
    await eventually(() => expect(given).toHaveLength(2));
    dropped.destroy();
    await once(given[1] as Strand, 'close');
    (given[0] as Strand).destroy();
    await once(kept, 'close');
    expect(kept.readableEnded).toBe(false);
    await bothAre(0);
    expect([near.isUsable, far.isUsable]).toEqual([true, true]);
  });

  it('are lost with the trunk', async () => {
    const given: Strand[] = [];
    serve = (strand) => void given.push(strand);
    const strand = near.open();
    strand.write(Buffer.alloc(2 * windowBytes));
    await eventually(() => expect(given).toHaveLength(1));
    farSocket.resetAndDestroy();
    await Promise.all([once(strand, 'close'), once(given[0] as Strand, 'close')]);
    expect([near.isUsable, near.size, far.size]).toEqual([false, 0, 0]);
  });
});

it('a side that is there answers when it is asked; one that says nothing is silent', async () => {
  const heard: number[] = [];
  nearSocket.on('data', (bytes: Buffer) => heard.push(bytes.length));
  const askFor = (answers: number) =>
    eventually(() => {
      expect(near.isSilent(20)).toBe(false);
      expect(heard.length).toBeGreaterThanOrEqual(answers);
    });
  await askFor(3);
  farSocket.pause();
  await eventually(() => expect(near.isSilent(20)).toBe(true));
  farSocket.resume();
  await eventually(() => expect(near.isSilent(20)).toBe(false));
});

it.each<[string, (answered: Strand) => void]>([
  ['the strand was let go of', (answered) => answered.destroy()],
  ['the trunk was cut', () => far.destroy()],
])('who asked reads what had come when %s', async (_what, goAway) => {
  const given: Strand[] = [];
  serve = (strand) => void given.push(strand);
  const asking = near.open();
  asking.write('a');
  await eventually(() => expect(given).toHaveLength(1));
  const answered = given[0] as Strand;
  answered.end(Buffer.alloc(200_000, 1));
  await eventually(() => expect(asking.readableLength).toBe(200_000));
  goAway(answered);
  await eventually(() => expect(far.size).toBe(0));
  expect((await buffer(asking)).length).toBe(200_000);
  await bothAre(0);
});

describe('a trunk that is to end', () => {
  it('ends at once when it has no strand', async () => {
    far.end();
    await once(nearSocket, 'close');
    expect(near.isUsable).toBe(false);
  });

  it('ends with its last strand, whose bytes all arrive, and takes no more', async () => {
    const given: Strand[] = [];
    serve = (strand) => void given.push(strand);
    const last = near.open();
    last.write('a');
    await eventually(() => expect(given).toHaveLength(1));
    far.end();
    await eventually(() => expect(near.isUsable).toBe(false));
    const late = near.open();
    await once(late, 'close');
    (given[0] as Strand).resume().end(Buffer.alloc(100_000, 1));
    expect((await buffer(last)).length).toBe(100_000);
    last.end();
    await once(nearSocket, 'close');
  });
});

describe('a side that breaks the rules is cut off', () => {
  const head = (type: number, length: number, id: number) => {
    const bytes = Buffer.alloc(8);
    bytes[0] = type;
    bytes.writeUIntLE(length, 1, 3);
    bytes.writeUInt32LE(id, 4);
    return bytes;
  };
  const open = (id: number) => head(frameTypes.open, 0, id);
  const credit = (id: number, value: number) => {
    const payload = Buffer.alloc(4);
    payload.writeUInt32LE(value);
    return Buffer.concat([head(frameTypes.credit, 4, id), payload]);
  };
  const full = Buffer.concat([head(frameTypes.data, mostInFrame, 1), Buffer.alloc(mostInFrame)]);

  it.each<[string, Buffer[]]>([
    ['data behind the end', [open(1), head(frameTypes.end, 0, 1), head(frameTypes.data, 0, 1)]],
    ['a frame that is too long', [open(1), head(frameTypes.data, mostInFrame + 1, 1)]],
    ['an unknown type', [open(1), head(9, 0, 1)]],
    ['data of a strand that was never opened', [open(1), head(frameTypes.data, 0, 2)]],
    ['a strand twice', [open(1), open(1)]],
    ['strands that go back', [open(2), open(1)]],
    ['credit for more than a window', [open(1), credit(1, 1)]],
    ['credit of another size', [open(1), head(frameTypes.credit, 0, 1)]],
    ['more than a window', [open(1), full, full, full, full, full]],
  ])('%s', async (_what, frames) => {
    serve = () => {};
    const ended = once(farSocket, 'close');
    for (const frame of frames) nearSocket.write(frame);
    await ended;
    expect(far.size).toBe(0);
  });

  it('but who says more of a strand that is over only on this side is not', async () => {
    serve = (strand) => strand.destroy();
    nearSocket.write(Buffer.concat([open(1), full, head(frameTypes.end, 0, 1), open(7)]));
    const strand = new Promise<void>((resolve) => {
      serve = () => resolve();
    });
    await strand;
    expect(far.isUsable).toBe(true);
  });
});
