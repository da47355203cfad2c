// Answers that end their connections, and clients that are still sending what is not read any more.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const ending = new WeakSet<Socket>();

/** Makes this the last answer of its connection: the bytes that a client sent behind it are no request. */
export function closeAfter(req: IncomingMessage, res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
  ending.add(req.socket);
}

/** Whether a connection has had its last request. The parser goes on to the next one in the bytes that it has. */
export const isEnding = (socket: Socket): boolean => ending.has(socket);

const lingerMs = 5_000;

/** A client that is still sending gets a moment to see the answer, then the connection ends. */
export function dropBody(req: IncomingMessage): void {
  if (req.complete) return;
  req.resume();
  const timer = setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, lingerMs);
  timer.unref();
  req.once('close', () => clearTimeout(timer));
}
