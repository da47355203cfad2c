// One request to one replica, and its answer to the client: bodies flow through as fast as the slower side takes them, and neither is ever waited for.
// On undici's dispatch, the lowest of its interfaces (docs/adr/0013-forwarding-with-undici.md). Which replica it is, what is repeated and
// what a failure means is not decided here: that is upstreams.ts.
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher, Pool } from 'undici';
import { dropBody, type Exchange } from './exchange.ts';
import { hasBody } from './framing.ts';
import { bodyOf } from './request-body.ts';

type Controller = Dispatcher.DispatchController;

/** Answers that are whole up to this size go out with their head as one text, in one write; what is larger isn't copied for that. */
const smallBytes = 16_384;

export type ForwardingEvents = {
  /** An answer begins; nothing of it has been sent to the client. Answers the headers to send with it, name after value. */
  begins(exchange: Exchange, status: number, headers: IncomingHttpHeaders): (string | string[])[];
  /** The request could not be sent, or no whole answer came. What of it the client has already can be seen in `exchange.res`. */
  fails(exchange: Exchange, error: Error): void;
};

/** A request on its way to a replica, until its answer has ended or it failed or was let go; then it says nothing more. */
export class Forwarding implements Dispatcher.DispatchHandler {
  /** Whether its head went out: whoever asked may have what he asked for. */
  wasSent = false;
  private isOver = false;
  private isPaused = false;
  /** The length of its answer's body, when it said one. */
  private length = Number.NaN;
  private controller: Controller | undefined;
  private readonly exchange: Exchange;
  private readonly events: ForwardingEvents;

  constructor(exchange: Exchange, events: ForwardingEvents) {
    this.exchange = exchange;
    this.events = events;
  }

  /** Sends the request with these headers (name after value). It fails by `fails` alone. */
  send(pool: Pool, headers: string[]): void {
    const { req } = this.exchange;
    pool.dispatch(
      {
        path: req.url as string,
        method: req.method as Dispatcher.HttpMethod,
        headers,
        body: hasBody(req) ? bodyOf(req) : null,
        reset: false, // undici would not keep a connection that has had a HEAD
      },
      this,
    );
  }

  /** Lets the request go without a word: its client has gone. */
  drop(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.controller?.abort(new Error('The client has gone.'));
  }

  /** Ends the request, which fails with that error. */
  giveUp(error: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.controller?.abort(error);
    this.events.fails(this.exchange, error);
  }

  onRequestStart(controller: Controller): void {
    if (this.isOver) {
      controller.abort(new Error('The client went before a connection was made.'));
      return;
    }
    this.controller = controller;
    this.wasSent = true;
  }

  onResponseStart(_controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200 || this.isOver) return; // 103 and the like are between us and the service
    this.length = Number(headers['content-length']);
    this.exchange.res.writeHead(status, this.events.begins(this.exchange, status, headers) as string[]);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    const { res } = this.exchange;
    if (this.isOver) return;
    if (chunk.length === this.length && chunk.length <= smallBytes) {
      res.end(chunk.toString('latin1'), 'latin1'); // each byte is one character, and comes out as it came in
      return;
    }
    if (res.write(chunk) || this.isPaused) return;
    this.isPaused = true;
    controller.pause();
    res.once('drain', () => {
      this.isPaused = false;
      controller.resume();
    });
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.exchange.res.end();
    dropBody(this.exchange.req);
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.events.fails(this.exchange, error);
  }
}
