// Clients that wait for `100 Continue` before they send a body (RFC 9110, section 10.1.1): they get it when the request is
// forwarded, so that what is refused is never sent.
import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** Notes that the client of this request waits. */
export const holdContinue = (req: IncomingMessage): void => void waiting.add(req);

/** Whether the client of this request still waits. */
export const awaitsContinue = (req: IncomingMessage): boolean => waiting.has(req);

/** Lets the client send its body, if it waits for that. */
export function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  if (waiting.delete(req)) res.writeContinue();
}
