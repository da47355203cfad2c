// What is known of one request, in one place: each step adds what it found out, and all that come after it may read it.
import type { ServerResponse } from 'node:http';
import type { UpstreamName } from './config.ts';
import type { Forwarding } from './forwarding/forwarding.ts';
import type { AccountMeter, Ticket } from './metering/account-meter.ts';
import type { ApiRoute } from './routes.ts';
import type { Token } from './tokens/token.ts';

/** Where a request goes, and on which terms. */
export type Destination = Readonly<{
  service: UpstreamName;
  /** The largest body it takes, in bytes. */
  bodyLimit: number;
  /** The body is a file: it may take as long as it moves. */
  isUpload: boolean;
  /** How long the service may take for the first byte of its answer. */
  answerWithinMs: number;
  /** Basic credentials and cookies go along; a bearer token never does. */
  keepCredentials: boolean;
}>;

export type Call = Readonly<{
  requestId: string;
  /** In milliseconds of `performance.now`. */
  startedAt: number;
  /** Without the query. */
  path: string;
  /** The address the request came from, as far as proxies in front can be trusted. */
  clientAddress: string;
  /** Failures are answered in RFC 6749's form. */
  isOAuth: boolean;
  /** Of a call of the API. */
  route?: ApiRoute;
  destination?: Destination;
  token?: Token;
  /** Of the token's account: what is left of its allowance is part of every answer. */
  meter?: AccountMeter;
  /** The call was admitted, and counts unless it is put back. */
  ticket?: Ticket;
  /** Signed, for the service that answers. */
  context?: string;
  forwarding?: Forwarding;
  /** Why the request could not be served, when that is no fault of the client's: for the log. */
  fault?: unknown;
}>;

/** An answer, with what Express keeps beside it: what is known of its request, and what is done when it is over. */
export type Reply = { locals: { call?: Call; endings?: (() => void)[] } };

/** What is known of the request that this answers. */
export const callOf = (res: Reply): Call => res.locals.call as Call;

/** Begins with what is known of every request. */
export function openCall(res: Reply, call: Call): void {
  res.locals.call = call;
}

/** Adds what a step has found out. Nothing else changes a call. */
export function learn(res: Reply, found: Partial<Call>): void {
  Object.assign(callOf(res), found);
}

/** Does `work` once the answer is over, whatever became of it: at the end, or when the client hangs up. */
export function whenOver(res: Reply & ServerResponse, work: () => void): void {
  const { endings } = res.locals;
  if (endings) {
    endings.push(work);
    return;
  }
  // One listener for all of them: many would look like a leak to Node.
  const all = [work];
  res.locals.endings = all;
  res.once('close', () => {
    for (const each of all) each();
  });
}
