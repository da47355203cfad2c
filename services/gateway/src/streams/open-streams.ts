// Answers without an end: streams of events. They end with the token that opened them, and at once
// when this gateway stops; their clients connect again.
import type { Readable } from 'node:stream';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { Request, Response } from 'express';
import { callOf, onClose } from '../call.ts';

const sweepMs = 1_000;
/** A client that doesn't read isn't waited for. */
const flushMs = 1_000;

/** `answer` is set once the service has begun to answer. */
type OpenStream = { req: Request; res: Response; answer?: Readable };

type Options = {
  /** Throws when the call would be refused now. */
  requireAllowed(res: Response): void;
  logger: Logger;
};

export class OpenStreams {
  private readonly options: Options;
  private readonly open = new Set<OpenStream>();
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(options: Options) {
    this.options = options;
  }

  get size(): number {
    return this.open.size;
  }

  /** Takes a request whose answer will have no end. */
  add(req: Request, res: Response): void {
    if (this.stopping) throw new ServiceError('unavailable', 'This gateway is about to stop; connect again.');
    const stream: OpenStream = { req, res };
    this.open.add(stream);
    onClose(res, () => this.open.delete(stream));
    res.once('pipe', (answer: Readable) => {
      stream.answer = answer;
      if (this.stopping) end(stream);
    });
  }

  async start(): Promise<void> {
    this.timer = setInterval(() => this.sweep(), sweepMs);
  }

  /** Ends all streams; later ones are refused. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping = true;
    for (const stream of this.open) end(stream);
  }

  private sweep(): void {
    for (const stream of this.open) {
      try {
        this.options.requireAllowed(stream.res);
      } catch (error) {
        this.options.logger.info(
          { err: error, request_id: callOf(stream.res).requestId },
          'a stream ends with its token',
        );
        end(stream);
      }
    }
  }
}

// The connection is closed as well: an idle one would delay the drain.
function end({ req, res, answer }: OpenStream): void {
  if (!answer || res.writableEnded) return;
  answer.unpipe(res);
  const late = setTimeout(() => res.destroy(), flushMs).unref();
  res.end(() => {
    clearTimeout(late);
    answer.destroy();
    req.socket.destroySoon();
  });
}
