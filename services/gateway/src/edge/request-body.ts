// The body of a client's request, as undici takes it.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/**
 * The body as it is to be sent: one that has come whole at once, what is still on its way as a stream. Most are short and come with their
 * heads; sent as streams, they leave so much behind that searching the heap takes a third of the gateway's time.
 */
export function bodyOf(req: IncomingMessage): Buffer | Readable {
  if (!isWhole(req)) return new RequestBody(req);
  return req.read();
}

// Node says that it is complete a moment later, when the parser has seen its end.
const isWhole = ({ headers, readableLength, complete }: IncomingMessage): boolean =>
  readableLength > 0 && (complete || readableLength === Number(headers['content-length']));

/**
 * Lets a body through as fast as its reader takes it. undici destroys what it has read from, also when a service answers early or breaks off;
 * a request destroyed takes its client's connection along, and nobody could be answered any more. So this stands between them.
 */
class RequestBody extends Readable {
  private readonly req: IncomingMessage;
  private isBegun = false;

  constructor(req: IncomingMessage) {
    super({ highWaterMark: req.readableHighWaterMark });
    this.req = req;
  }

  override _read(): void {
    if (!this.isBegun) {
      this.isBegun = true;
      this.req.on('data', this.onChunk).on('end', this.onEnd);
    }
    this.req.resume();
  }

  // What the client still sends is for whoever answers it to take or to refuse.
  override _destroy(_error: Error | null, done: (error?: Error | null) => void): void {
    this.req.off('data', this.onChunk).off('end', this.onEnd);
    done();
  }

  private readonly onChunk = (chunk: Buffer) => {
    if (!this.push(chunk)) this.req.pause();
  };

  private readonly onEnd = () => {
    this.push(null);
  };
}
