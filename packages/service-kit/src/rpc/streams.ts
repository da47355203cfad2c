// Streams between services end with a message that says what went before it (`StreamEnd`). gRPC alone doesn't tell: the reader of a
// call that was cancelled sees either a cancellation or an orderly end (grpc-node issue 2583), and would take a part for the whole.
// The RPC client and server send and read every stream through this file; handlers and callers see only its messages.
import { createHash } from 'node:crypto';
import type * as grpc from '@grpc/grpc-js';
import { ServiceError } from '../errors.ts';

/** The side that sends says in its metadata that its stream will end with a `StreamEnd`; 0.1.0 doesn't (ADR 22). */
export const streamEndMetadataKey = 'stream-end';

const endField = 'stream_end';
const endType = 'stream.v1.StreamEnd'; // as packages below `almanac` name it

type StreamEnd = { messages: number; bytes: number; sha256: Uint8Array };
type Method = grpc.MethodDefinition<unknown, unknown>;
type MessageType = { type?: { field?: { name: string; typeName: string }[] } };

/** Throws when the method streams messages that can't carry the end of their stream. */
export function requireStreamEnd(name: string, method: Method): void {
  const { requestType, responseType } = method as unknown as { requestType: MessageType; responseType: MessageType };
  const streamed = [...(method.requestStream ? [requestType] : []), ...(method.responseStream ? [responseType] : [])];
  for (const { type } of streamed) {
    const end = type?.field?.find((field) => field.name === endField);
    if (!end?.typeName.endsWith(endType))
      throw new Error(`${name} streams messages without a field ${endField} of type ${endType}`);
  }
}

/** The method as gRPC gets it: streamed messages stay bytes, which are counted and made here. */
export function withRawStreams(method: Method): Method {
  const asIs = (bytes: unknown) => bytes as Buffer;
  return {
    ...method,
    ...(method.requestStream && { requestSerialize: asIs, requestDeserialize: asIs }),
    ...(method.responseStream && { responseSerialize: asIs, responseDeserialize: asIs }),
  };
}

/** The messages of a stream that is being sent, as bytes. */
export class StreamSender {
  private readonly serialize: grpc.serialize<unknown>;
  private readonly sent = new StreamTotals();

  constructor(serialize: grpc.serialize<unknown>) {
    this.serialize = serialize;
  }

  message(message: unknown): Buffer {
    const bytes = this.serialize(message);
    this.sent.add(bytes);
    return bytes;
  }

  /** The last message. 0.1.0 of data reads it as a piece of a file without bytes. */
  end(): Buffer {
    return this.serialize({ chunk: Buffer.alloc(0), [endField]: this.sent.end() });
  }
}

/**
 * The messages of a stream as they come. Throws `unavailable` when the stream stops without its end, or its end disagrees with
 * what came: only a loop that was left in order has seen the whole stream. `isEndAnnounced` is asked when the stream stops.
 */
export async function* receiveStream(
  stream: AsyncIterable<Buffer>,
  deserialize: grpc.deserialize<unknown>,
  isEndAnnounced: () => boolean,
): AsyncGenerator<unknown> {
  const seen = new StreamTotals();
  let hasEnded = false;
  for await (const bytes of stream) {
    const message = deserialize(bytes) as { [endField]?: StreamEnd | null };
    if (hasEnded) throw brokenOff();
    hasEnded = Boolean(message[endField]);
    if (message[endField]) {
      if (!seen.agreeWith(message[endField])) throw brokenOff();
      continue;
    }
    seen.add(bytes);
    yield message;
  }
  if (!hasEnded && isEndAnnounced()) throw brokenOff();
}

const brokenOff = () =>
  new ServiceError('unavailable', 'A stream between services broke off before its end; try again.');

class StreamTotals {
  private messages = 0;
  private bytes = 0;
  private readonly hash = createHash('sha256');

  add(bytes: Buffer): void {
    this.messages += 1;
    this.bytes += bytes.length;
    this.hash.update(bytes);
  }

  /** Asked once. */
  end(): StreamEnd {
    return { messages: this.messages, bytes: this.bytes, sha256: this.hash.digest() };
  }

  agreeWith(told: StreamEnd): boolean {
    const { messages, bytes, sha256 } = this.end();
    return told.messages === messages && told.bytes === bytes && Buffer.compare(told.sha256, sha256) === 0;
  }
}
