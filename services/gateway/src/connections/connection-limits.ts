// How many connections there may be, of one address and in total: whoever opens thousands and asks nothing must not take the
// places of others. The connection that has been idle longest makes room; without an idle one the new one is closed at once.
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type ConnectionLimits = {
  /** Of one address; undefined behind a proxy, whose address is that of all clients. */
  perAddress: number | undefined;
  total: number;
};

/** Those of one address, or all: how many are open, and which are idle, the one that is idle longest first. */
type Group = { open: number; idle: Set<Socket>; most: number };

/** Holds the server to the limits. `onClosed` is told of each connection that had to go. */
export function limitConnections(server: Server, { perAddress, total }: ConnectionLimits, onClosed: () => void): void {
  const all: Group = { open: 0, idle: new Set(), most: total };
  const byAddress = new Map<string, Group>();
  const groupsOf = new WeakMap<Socket, Group[]>();

  const enter = (socket: Socket): Group[] => {
    if (perAddress === undefined) return [all];
    const address = socket.remoteAddress ?? '';
    const own = byAddress.get(address) ?? { open: 0, idle: new Set(), most: perAddress };
    byAddress.set(address, own);
    socket.once('close', () => {
      if (own.open === 0 && byAddress.get(address) === own) byAddress.delete(address);
    });
    return [own, all];
  };
  const leave = (socket: Socket) => {
    for (const group of groupsOf.get(socket) ?? []) {
      group.open -= 1;
      group.idle.delete(socket);
    }
    groupsOf.delete(socket);
  };
  const close = (socket: Socket) => {
    leave(socket);
    socket.destroy();
    onClosed();
  };

  server.prependListener('connection', (socket: Socket) => {
    const groups = enter(socket);
    groupsOf.set(socket, groups);
    socket.prependOnceListener('close', () => leave(socket));
    for (const group of groups) group.open += 1;
    for (const group of groups) {
      if (group.open <= group.most) continue;
      const [longestIdle] = group.idle;
      close(longestIdle ?? socket);
      if (!longestIdle) return;
    }
    for (const group of groups) group.idle.add(socket);
  });

  const underWay = new WeakMap<Socket, number>();
  const begin = ({ socket }: { socket: Socket }, res: ServerResponse) => {
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
    for (const group of groupsOf.get(socket) ?? []) group.idle.delete(socket);
    res.once('close', () => {
      const left = (underWay.get(socket) ?? 1) - 1;
      underWay.set(socket, left);
      if (left === 0) for (const group of groupsOf.get(socket) ?? []) group.idle.add(socket);
    });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, begin);
}
