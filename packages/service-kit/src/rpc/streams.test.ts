import type * as grpc from '@grpc/grpc-js';
import { loadServiceDefinition } from './contract.ts';
import { receiveStream, requireStreamEnd, StreamSender } from './streams.ts';

const { requestSerialize, requestDeserialize } = loadServiceDefinition('data').BulkLoad as grpc.MethodDefinition<
  unknown,
  unknown
>;

/** A stream of these pieces as bytes, its end last. */
function sent(pieces: readonly string[]): Buffer[] {
  const sender = new StreamSender(requestSerialize);
  return [...pieces.map((piece) => sender.message({ chunk: Buffer.from(piece) })), sender.end()];
}

async function received(messages: readonly Buffer[]): Promise<string[]> {
  const stream = async function* () {
    yield* messages;
  };
  const pieces: string[] = [];
  for await (const message of receiveStream(stream(), requestDeserialize))
    pieces.push(String((message as { chunk: Buffer }).chunk));
  return pieces;
}

describe('a stream between services', () => {
  it.each([[[]], [['a']], [['a', '', 'b'.repeat(100_000)]]])('gives what was sent, without its end', async (pieces) => {
    expect(await received(sent(pieces))).toEqual(pieces);
  });

  const whole = sent(['a', 'b', 'b', 'c']);
  it.each([
    ['stops before its end', whole.slice(0, -1)],
    ['has nothing', []],
    ['lacks a message', whole.toSpliced(1, 1)],
    ['has a message twice', whole.toSpliced(1, 0, whole[1] as Buffer)],
    ['has its messages in another order', [1, 0, 2, 3, 4].map((place) => whole[place] as Buffer)],
    ['has the end of another', [...whole.slice(0, -1), sent(['a', 'b', 'b', 'd']).at(-1) as Buffer]],
    ['goes on after its end', [...whole, whole[0] as Buffer]],
    ['ends twice', [...whole, whole.at(-1) as Buffer]],
  ])('that %s is unavailable', async (_what, messages) => {
    await expect(received(messages)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('can only be of messages that can carry its end', () => {
    const bare = { requestStream: true, responseStream: false, requestType: { type: { field: [] } } };
    expect(() => requireStreamEnd('data/Bare', bare as never)).toThrow('data/Bare streams messages without a field');
  });
});
