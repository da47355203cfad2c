// A TCP proxy between a service and its dependency: a test cuts the connection and restores it.
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { closeAll, listen, pairSockets } from './paired-sockets.ts';
import { findFreePort } from './ports.ts';

export type TcpProxy = {
  port: number;
  /** The same URL, through the proxy. */
  urlOf(url: string): string;
  /** Breaks all connections and refuses new ones. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  isOpen(): boolean;
  stop(): Promise<void>;
};

/** Sees each chunk on its way; true: drops the chunk and breaks the connection. */
export type Watch = (chunk: Buffer, to: 'target' | 'client') => boolean;

/**
 * Starts a proxy to the host and port of `target`, on a port that stays the same. `watch` makes a
 * watch for each connection.
 */
export async function startTcpProxy(target: string, watch: () => Watch = () => () => false): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    pairSockets(client, upstream, sockets);
    const isBreaking = watch();
    const watched = (to: 'target' | 'client') =>
      new Transform({
        transform(chunk: Buffer, _encoding, pass) {
          if (!isBreaking(chunk, to)) return pass(null, chunk);
          client.destroy();
          upstream.destroy();
        },
      });
    client.pipe(watched('target')).pipe(upstream);
    upstream.pipe(watched('client')).pipe(client);
  });
  const ownPort = await findFreePort();
  await listen(server, ownPort);
  const cut = () => closeAll(server, sockets);
  return {
    port: ownPort,
    urlOf: (url) => {
      const proxied = new URL(url);
      proxied.hostname = '127.0.0.1';
      proxied.port = String(ownPort);
      return proxied.href;
    },
    cut,
    isOpen: () => server.listening,
    restore: () => listen(server, ownPort),
    stop: async () => {
      if (server.listening) await cut();
    },
  };
}
