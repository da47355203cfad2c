// A proxy of a test has a connection to each of two sides; neither outlives the other.
import type { Server, Socket } from 'node:net';

/** Closes each of the two when the other closes; `open` has both until then. */
export function pairSockets(client: Socket, upstream: Socket, open: Set<Socket>): void {
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    open.add(socket);
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      open.delete(socket);
      other.destroy();
    });
  }
}

/** Listens on this port of 127.0.0.1; rejects when it is in use. */
export function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** Closes the server and every open connection; resolves when all are closed. */
export async function closeAll(server: Server, open: Set<Socket>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  for (const socket of open) socket.destroy();
  await closed;
}
