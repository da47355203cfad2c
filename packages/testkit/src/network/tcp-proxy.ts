// A TCP proxy between a service and what it depends on, to take the dependency away and give it back.
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

/** Looks at what is on its way; true: it doesn't arrive, and its connection breaks. */
export type Watch = (chunk: Buffer, to: 'target' | 'client') => boolean;

/** Starts a proxy to the host and port of `target`, on a port of its own that stays the same. `watch`: made for each connection. */
export async function startTcpProxy(target: string, watch: () => Watch = () => () => false): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    pairSockets(client, upstream, sockets);
    const breaksAt = watch();
    const passing = (to: 'target' | 'client') =>
      new Transform({
        transform(chunk: Buffer, _encoding, pass) {
          if (!breaksAt(chunk, to)) return pass(null, chunk);
          client.destroy();
          upstream.destroy();
        },
      });
    client.pipe(passing('target')).pipe(upstream);
    upstream.pipe(passing('client')).pipe(client);
  });
  const own = await findFreePort();
  await listen(server, own);
  const cut = () => closeAll(server, sockets);
  return {
    port: own,
    urlOf: (url) => {
      const proxied = new URL(url);
      proxied.hostname = '127.0.0.1';
      proxied.port = String(own);
      return proxied.href;
    },
    cut,
    isOpen: () => server.listening,
    restore: () => listen(server, own),
    stop: async () => {
      if (server.listening) await cut();
    },
  };
}
