// The body of a request before it is forwarded: whether there is one, and what happens to one that
// is never read.
import type { IncomingMessage, ServerResponse } from 'node:http';

const lingerMs = 5_000;

/** True when the request has a body or may have one. */
export function hasBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}

// Requests whose clients wait for `100 Continue` before they send a body (RFC 9110, section
// 10.1.1). The gateway sends it when it forwards the request, so the body of a refused request is
// never sent.
const awaitingContinue = new WeakSet<IncomingMessage>();

/** Marks a request whose client waits for `100 Continue`. */
export const markAwaitingContinue = (req: IncomingMessage): void => void awaitingContinue.add(req);

/** Whether the client of this request still waits for `100 Continue`. */
export const awaitsContinue = (req: IncomingMessage): boolean => awaitingContinue.has(req);

/** Sends `100 Continue` if the client waits for it. */
export function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  if (awaitingContinue.delete(req)) res.writeContinue();
}

/**
 * Discards a body that is still arriving after its request was answered. The client has five
 * seconds to read the answer; then the connection is closed.
 */
export function discardBody(req: IncomingMessage): void {
  if (req.complete) return;
  req.resume();
  const timer = setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, lingerMs);
  timer.unref();
  req.once('close', () => clearTimeout(timer));
}
