// One request forwarded to a service: its single retry, its time limits, and which error the client
// gets. http-proxy-middleware moves the bytes.
import type { ClientRequest } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { ServiceError } from '@almanac/service-kit/errors';
import type { Request, Response } from 'express';
import { hasBody } from '../connections/request-body.ts';

export type ForwardingOptions = {
  /** Sends the request; called a second time for a retry. */
  send(): void;
  /** The body is a file. */
  isUpload: boolean;
  /** Time limit for the first byte of the service's answer. */
  answerWithinMs: number;
  /** Time limit for a new connection. */
  connectMs: number;
  /**
   * Called when the service broke a connection: its other idle connections may be broken as well.
   */
  onConnectionLost(): void;
  /** Answers the client that the service is unavailable. */
  refuse(error: Error): void;
};

const retryableMethods = new Set(['GET', 'HEAD']);
// The connection failed, or the service closed a kept-alive connection as the request was sent on
// it.
const connectionErrors = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH']);

export class ForwardedRequest {
  /** There was a connection, so the service may have received the request. */
  wasSent = false;
  /** The deadline for the first byte of the answer (performance.now), while it is pending. */
  answerDue: number | undefined;
  private isRetry = false;
  private isSettled = false;
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
    this.setAnswerDeadline();
    this.options.send();
  }

  /** The proxy's request was assigned a socket, which may still be connecting. */
  onRequest(proxyReq: ClientRequest): void {
    this.proxyReq = proxyReq;
    if (this.isSettled || this.res.destroyed) {
      proxyReq.destroy();
      return;
    }
    if (proxyReq.socket?.connecting) this.awaitConnection(proxyReq);
    else this.wasSent = true;
    // Node emits no error for a connection that closes after an upgrade was answered.
    proxyReq.once('close', () => {
      if (this.proxyReq === proxyReq) this.onError(new Error('There was no answer.'));
    });
  }

  /** The answer has begun: the request is neither retried nor aborted any more. */
  onAnswer(): void {
    this.answerDue = undefined;
    this.isSettled = true;
  }

  /** The connection failed: retries the request once if that is safe, and refuses it otherwise. */
  onError(error: Error & { code?: string }): void {
    const { req, res, options } = this;
    if (this.isSettled || res.headersSent || req.socket.destroyed) return;
    this.proxyReq = undefined;
    const isConnectionError = connectionErrors.has(error.code ?? '');
    if (isConnectionError) options.onConnectionLost();
    if (isConnectionError && !this.isRetry && retryableMethods.has(req.method) && !hasBody(req)) {
      this.isRetry = true;
      options.send();
      return;
    }
    this.isSettled = true;
    options.refuse(error);
  }

  /** Aborts the request and refuses it with the error. */
  abort(error: ServiceError): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.options.refuse(error);
    this.proxyReq?.destroy();
  }

  // For an upload the time limit starts when the whole file has arrived.
  private setAnswerDeadline(): void {
    const { isUpload, answerWithinMs } = this.options;
    const set = () => {
      if (!this.res.headersSent) this.answerDue = performance.now() + answerWithinMs;
    };
    if (isUpload && !this.req.complete) this.req.once('end', set);
    else set();
  }

  private awaitConnection(proxyReq: ClientRequest): void {
    const { socket } = proxyReq;
    let isConnected = false;
    // Pending events run first: when the timer is late, so may be the event of the connection.
    const onTimeout = () =>
      setImmediate(() => {
        if (!isConnected)
          proxyReq.destroy(Object.assign(new Error('No connection was made in time.'), { code: 'ETIMEDOUT' }));
      });
    const timer = setTimeout(onTimeout, this.options.connectMs);
    socket?.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      isConnected = true;
      this.wasSent = true;
      clearTimeout(timer);
    });
    proxyReq.once('close', () => clearTimeout(timer));
  }
}
