// One request on its way to a service: repeated when that is safe, given up when it takes too long, and what of its answer
// the client gets. Which bytes flow where is http-proxy-middleware's business.
import type { ClientRequest } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { ServiceError } from '@almanac/service-kit/errors';
import type { Request, Response } from 'express';
import { hasBody } from '../steps/check-framing.ts';

/** What the service it goes to is to it. */
export type ForwardingOptions = {
  /** Sends the request as it stands; called once more when it is repeated. */
  send(): void;
  /** The body is a file. */
  isUpload: boolean;
  /** How long the service may take for the first byte of its answer. */
  answerWithinMs: number;
  /** How long a connection may take to be made. */
  connectMs: number;
  /** The service broke a connection: others that are idle may be broken, too. */
  onBroken(): void;
  /** Answers the client that there is no answer. */
  refuse(error: Error): void;
};

const safeToRepeat = new Set(['GET', 'HEAD']);
// The connection was never made, or a kept one was closed by the other side as it was taken up.
const neverArrived = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH']);

export class Forwarding {
  /** A connection to the service was there: it may have got the request. */
  wasSent = false;
  /** When the first byte of the answer is due (performance.now); set while it is awaited. */
  answerDue: number | undefined;
  private isRepeat = false;
  private isOver = false;
  private proxyReq: ClientRequest | undefined;
  private readonly req: Request;
  private readonly res: Response;
  private readonly options: ForwardingOptions;

  constructor(req: Request, res: Response, options: ForwardingOptions) {
    this.req = req;
    this.res = res;
    this.options = options;
  }

  /** Sends the request. */
  start(): void {
    this.expectAnswer();
    this.options.send();
  }

  /** It has been given a connection, or one that is being made. */
  begins(proxyReq: ClientRequest): void {
    this.proxyReq = proxyReq;
    if (this.isOver || this.res.destroyed) {
      proxyReq.destroy();
      return;
    }
    if (proxyReq.socket?.connecting) this.awaitConnection(proxyReq);
    else this.wasSent = true;
    // A connection that ends without a word is no error to Node when an upgrade was answered.
    proxyReq.once('close', () => {
      if (this.proxyReq === proxyReq) this.fails(new Error('There was no answer.'));
    });
  }

  /** An answer begins: from here on the request is neither repeated nor given up. */
  answered(): void {
    this.answerDue = undefined;
    this.isOver = true;
  }

  /** The connection could not be made, or broke: the request is sent once more, or refused. */
  fails(error: Error & { code?: string }): void {
    const { req, res, options } = this;
    if (this.isOver || res.headersSent || req.socket.destroyed) return;
    this.proxyReq = undefined;
    const hasNotArrived = neverArrived.has(error.code ?? '');
    if (hasNotArrived) options.onBroken();
    if (hasNotArrived && !this.isRepeat && safeToRepeat.has(req.method) && !hasBody(req)) {
      this.isRepeat = true;
      options.send();
      return;
    }
    this.isOver = true;
    options.refuse(error);
  }

  /** Ends the request, which is refused with that error. */
  giveUp(error: ServiceError): void {
    if (this.isOver) return;
    this.isOver = true;
    this.options.refuse(error);
    this.proxyReq?.destroy();
  }

  // The answer to an upload is due when all of the file has come.
  private expectAnswer(): void {
    const { isUpload, answerWithinMs } = this.options;
    const expect = () => {
      if (!this.res.headersSent) this.answerDue = performance.now() + answerWithinMs;
    };
    if (isUpload && !this.req.complete) this.req.once('end', expect);
    else expect();
  }

  private awaitConnection(proxyReq: ClientRequest): void {
    const { socket } = proxyReq;
    let isMade = false;
    // What has happened by then is heard first: this process may have been what was late.
    const giveUp = () =>
      setImmediate(() => {
        if (!isMade)
          proxyReq.destroy(Object.assign(new Error('No connection was made in time.'), { code: 'ETIMEDOUT' }));
      });
    const timer = setTimeout(giveUp, this.options.connectMs);
    socket?.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      isMade = true;
      this.wasSent = true;
      clearTimeout(timer);
    });
    proxyReq.once('close', () => clearTimeout(timer));
  }
}
