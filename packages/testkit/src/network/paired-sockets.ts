// What stands between two sides, as the proxies of tests do, has a connection to each; neither outlives the other.
import type { Server, Socket } from 'node:net';

/** Lets each of the two end with the other; `open` has both until then. */
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

/** Listens on the port of this machine; rejects when it can't be had. */
export function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** Ends the server and every connection that is open; returns when it has. */
export async function closeAll(server: Server, open: Set<Socket>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  for (const socket of open) socket.destroy();
  await closed;
}
