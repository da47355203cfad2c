// How both sides come to a trunk: a service says in its answers that it takes them, and a request to upgrade makes one (RFC 9110, section 7.8).
import { type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Strand, Trunk } from './trunk.ts';

const protocol = 'almanac-strands';

/** Says in an answer that its connection could have been a trunk's; not on a strand, which is one. `keptMs`: how long the server keeps connections. */
export function offerTrunk({ socket }: IncomingMessage, res: ServerResponse, keptMs: number): void {
  if (isStrand(socket) || !res.shouldKeepAlive) return;
  res.setHeader('Upgrade', protocol);
  res.setHeader('Connection', 'keep-alive, upgrade');
  res.setHeader('Keep-Alive', `timeout=${Math.floor(keptMs / 1_000)}`); // Node leaves it out beside a Connection of ours
}

/** Whether the `Upgrade` header of an answer offers trunks. */
export const offersTrunks = (upgrade: string | string[] | undefined): boolean => upgrade === protocol;

export type Trunks = {
  /** Lets those without strands go at once, the others with their last strand. */
  end(): void;
  /** Cuts all. */
  destroy(): void;
};

/**
 * Whether a request asks for one. For the server's `shouldUpgradeCallback` (Node 24.9): what asks for another protocol is then a request like any
 * other.
 */
export const asksForTrunk = ({ headers, socket }: IncomingMessage): boolean =>
  headers.upgrade === protocol && !isStrand(socket);

const isStrand = (socket: Duplex) => socket instanceof Strand;

/** Makes the server take trunks; their strands are connections of its own. */
export function takeTrunks(server: Server): Trunks {
  const trunks = new Set<Trunk>();
  let isEnding = false;
  server.on('upgrade', (req, socket: Socket, head) => {
    socket.on('error', () => undefined); // nobody else listens any more
    if (!asksForTrunk(req) || isEnding) {
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', () => socket.destroy());
      return;
    }
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`);
    const trunk = new Trunk(socket, head, (strand) => server.emit('connection', strand));
    trunks.add(trunk);
    trunk.onClose(() => trunks.delete(trunk));
  });
  return {
    end: () => {
      isEnding = true;
      for (const trunk of trunks) trunk.end();
    },
    destroy: () => {
      for (const trunk of trunks) trunk.destroy();
    },
  };
}

/** Asks a server for a trunk. Undefined when it gives none, within that time. */
export function askForTrunk(origin: string, withinMs: number): Promise<Trunk | undefined> {
  return new Promise((resolve) => {
    const asking = request(origin, {
      agent: false,
      headers: { Connection: 'Upgrade', Upgrade: protocol },
      timeout: withinMs,
    });
    asking.on('upgrade', (_answer, socket, head) => resolve(new Trunk(socket as Socket, head)));
    asking.on('response', () => asking.destroy());
    asking.on('timeout', () => asking.destroy());
    asking.on('error', () => resolve(undefined));
    asking.on('close', () => resolve(undefined));
    asking.end();
  });
}
