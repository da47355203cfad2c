// The state of one request: each step adds its result, and all later steps read it.
import type { ServerResponse } from 'node:http';
import type { AccountMeter, Ticket } from './admission/account-meter.ts';
import type { Token } from './authentication/token.ts';
import type { UpstreamName } from './config.ts';
import type { ForwardedRequest } from './forwarding/forwarded-request.ts';
import type { ApiRoute } from './routes.ts';

/** The service that answers a request, and the terms. */
export type Destination = Readonly<{
  service: UpstreamName;
  /** The largest body it accepts, in bytes. */
  bodyLimit: number;
  /** The body is a file: it has no total time limit while it makes progress. */
  isUpload: boolean;
  /** Time limit for the first byte of the service's answer. */
  answerWithinMs: number;
  /** Forward Basic credentials and cookies. A bearer token is never forwarded. */
  keepCredentials: boolean;
}>;

export type Call = Readonly<{
  requestId: string;
  /** In milliseconds of `performance.now`. */
  startedAt: number;
  /** Without the query. */
  path: string;
  /** The client's address; X-Forwarded-For counts for GATEWAY_TRUSTED_HOPS proxies only. */
  clientAddress: string;
  /** Made by a page of the console: below `/console/`. */
  isConsole: boolean;
  /** Errors are answered in RFC 6749's form. */
  isOAuth: boolean;
  /** Set for calls of the API. */
  route?: ApiRoute;
  destination?: Destination;
  token?: Token;
  /** The meter of the token's account; every answer shows its allowance. */
  meter?: AccountMeter;
  /** Set once the call is admitted. The call counts unless the ticket is put back. */
  ticket?: Ticket;
  /** The signed call context for the destination. */
  context?: string;
  forwarded?: ForwardedRequest;
  /** The cause of a failure that is not the client's fault, for the log. */
  fault?: unknown;
}>;

/** A response with what Express keeps in `locals`: the call, and the listeners of `onClose`. */
export type ResponseWithCall = { locals: { call?: Call; closeListeners?: (() => void)[] } };

/** The call that this response answers. */
export const callOf = (res: ResponseWithCall): Call => res.locals.call as Call;

/** Attaches a new call to its response. */
export function setCall(res: ResponseWithCall, call: Call): void {
  res.locals.call = call;
}

/** Adds the result of a step. A call changes nowhere else. */
export function updateCall(res: ResponseWithCall, result: Partial<Call>): void {
  Object.assign(callOf(res), result);
}

/** Calls `listener` when the response has ended or its client has disconnected. */
export function onClose(res: ResponseWithCall & ServerResponse, listener: () => void): void {
  const { closeListeners } = res.locals;
  if (closeListeners) {
    closeListeners.push(listener);
    return;
  }
  // One Node listener for all of them: Node warns of a leak when there are many.
  const listeners = [listener];
  res.locals.closeListeners = listeners;
  res.once('close', () => {
    for (const each of listeners) each();
  });
}
