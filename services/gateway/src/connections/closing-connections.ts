// Connections that close after the present answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const closing = new WeakSet<Socket>();

/**
 * Closes the connection after this answer. Bytes that the client sent after its request are
 * ignored.
 */
export function closeAfter(req: IncomingMessage, res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
  closing.add(req.socket);
}

/**
 * Whether `closeAfter` was called for this connection. Node's parser still emits requests that it
 * finds in bytes it has already received; the server must ignore them.
 */
export const isClosing = (socket: Socket): boolean => closing.has(socket);
