// Limits the number of connections, in total and for one address, so that a client with thousands
// of idle connections can't exhaust them. Beyond a limit the connection that has been idle longest
// is closed; when none is idle, the new one is.
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type ConnectionLimits = {
  /** For one address; undefined behind a proxy, whose address all clients share. */
  perAddress: number | undefined;
  total: number;
};

/**
 * The connections of one address, or all. `idle` is in order: the connection idle longest first.
 */
type Group = { open: number; idle: Set<Socket>; max: number };

/** Enforces the limits. `onClosed` is called for each connection that is closed. */
export function limitConnections(server: Server, { perAddress, total }: ConnectionLimits, onClosed: () => void): void {
  const all: Group = { open: 0, idle: new Set(), max: total };
  const byAddress = new Map<string, Group>();
  const groupsOf = new WeakMap<Socket, Group[]>();

  const groupsFor = (socket: Socket): Group[] => {
    if (perAddress === undefined) return [all];
    const address = socket.remoteAddress ?? '';
    const own = byAddress.get(address) ?? { open: 0, idle: new Set(), max: perAddress };
    byAddress.set(address, own);
    socket.once('close', () => {
      if (own.open === 0 && byAddress.get(address) === own) byAddress.delete(address);
    });
    return [own, all];
  };
  const removeFromGroups = (socket: Socket) => {
    for (const group of groupsOf.get(socket) ?? []) {
      group.open -= 1;
      group.idle.delete(socket);
    }
    groupsOf.delete(socket);
  };
  const close = (socket: Socket) => {
    removeFromGroups(socket);
    socket.destroy();
    onClosed();
  };

  server.prependListener('connection', (socket: Socket) => {
    const groups = groupsFor(socket);
    groupsOf.set(socket, groups);
    socket.prependOnceListener('close', () => removeFromGroups(socket));
    for (const group of groups) group.open += 1;
    for (const group of groups) {
      if (group.open <= group.max) continue;
      const [longestIdle] = group.idle;
      close(longestIdle ?? socket);
      if (!longestIdle) return;
    }
    for (const group of groups) group.idle.add(socket);
  });

  const inFlight = new WeakMap<Socket, number>();
  const begin = ({ socket }: { socket: Socket }, res: ServerResponse) => {
    inFlight.set(socket, (inFlight.get(socket) ?? 0) + 1);
    for (const group of groupsOf.get(socket) ?? []) group.idle.delete(socket);
    res.once('close', () => {
      const remaining = (inFlight.get(socket) ?? 1) - 1;
      inFlight.set(socket, remaining);
      if (remaining === 0) for (const group of groupsOf.get(socket) ?? []) group.idle.add(socket);
    });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, begin);
}
