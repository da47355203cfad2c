// Ports for what tests start.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

// Below the ports that systems give to outgoing connections and to whoever asks for any (32768 and up on Linux), which could
// take one before its owner does or while its owner is away for a moment; and below those of an embedded system (20000 and up).
const lowest = 10_000;
const highest = 20_000;
const mostTries = 200;

/** A TCP port of 127.0.0.1 that nobody listens on, that nobody is given by the operating system, and that no other call answers while this process lives. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries++) {
    const port = randomInt(lowest, highest);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
  throw new Error(`No free port was found between ${lowest} and ${highest}.`);
}

/**
 * Tells other calls, those of other processes too, that the port is taken, though its owner may not listen yet: a system of many
 * services takes minutes to start. Whoever has the UDP port of the same number has it, and nothing that tests start listens on one.
 */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').unref();
    socket.once('error', () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
