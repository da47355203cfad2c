// Streams between services end with a `StreamEnd` message that counts what came before it. gRPC
// alone can't show a complete stream: the reader of a cancelled call sees a cancellation or an
// orderly end (grpc-node issue 2583), and could take a part for the whole. Client and server send
// and read every stream through this file; handlers and callers see only its messages.
import { createHash } from 'node:crypto';
import type * as grpc from '@grpc/grpc-js';
import { ServiceError } from '../errors.ts';

/**
 * Metadata by which 0.2.0 knows that a stream ends with a `StreamEnd`. All do now (ADR 22).
 */
export const streamEndMetadataKey = 'stream-end';

const endField = 'stream_end';
const endType = 'stream.v1.StreamEnd'; // relative to the package `almanac`

type StreamEnd = { messages: number; bytes: number; sha256: Uint8Array };
type Method = grpc.MethodDefinition<unknown, unknown>;
type MessageType = { type?: { field?: { name: string; typeName: string }[] } };

/** Throws when the method streams messages without a field for `StreamEnd`. */
export function requireStreamEnd(name: string, method: Method): void {
  const { requestType, responseType } = method as unknown as { requestType: MessageType; responseType: MessageType };
  const streamed = [...(method.requestStream ? [requestType] : []), ...(method.responseStream ? [responseType] : [])];
  for (const { type } of streamed) {
    const end = type?.field?.find((field) => field.name === endField);
    if (!end?.typeName.endsWith(endType))
      throw new Error(`${name} streams messages without a field ${endField} of type ${endType}`);
  }
}

/** The method with streamed messages as bytes, which this file counts and serializes. */
export function withRawStreams(method: Method): Method {
  const asIs = (bytes: unknown) => bytes as Buffer;
  return {
    ...method,
    ...(method.requestStream && { requestSerialize: asIs, requestDeserialize: asIs }),
    ...(method.responseStream && { responseSerialize: asIs, responseDeserialize: asIs }),
  };
}

/** Serializes and counts the messages of an outgoing stream. */
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

  /** The last message. */
  end(): Buffer {
    return this.serialize({ [endField]: this.sent.end() });
  }
}

/**
 * The messages of an incoming stream. Throws `unavailable` when the stream stops without its end,
 * or its end disagrees with the messages: only a loop that completes has read the whole stream.
 */
export async function* receiveStream(
  stream: AsyncIterable<Buffer>,
  deserialize: grpc.deserialize<unknown>,
): AsyncGenerator<unknown> {
  const received = new StreamTotals();
  let hasEnded = false;
  for await (const bytes of stream) {
    const message = deserialize(bytes) as { [endField]?: StreamEnd | null };
    if (hasEnded) throw brokenOff();
    hasEnded = Boolean(message[endField]);
    if (message[endField]) {
      if (!received.agreeWith(message[endField])) throw brokenOff();
      continue;
    }
    received.add(bytes);
    yield message;
  }
  if (!hasEnded) throw brokenOff();
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

  /** Called once. */
  end(): StreamEnd {
    return { messages: this.messages, bytes: this.bytes, sha256: this.hash.digest() };
  }

  agreeWith(stated: StreamEnd): boolean {
    const { messages, bytes, sha256 } = this.end();
    return stated.messages === messages && stated.bytes === bytes && Buffer.compare(stated.sha256, sha256) === 0;
  }
}
