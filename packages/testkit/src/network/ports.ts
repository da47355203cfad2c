// Free ports for the servers that tests start.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

// Below the ephemeral ports of the operating system (32768 and up on Linux), so that no outgoing
// connection takes one while its owner starts or restarts; below those of an embedded system, too
// (20000 and up).
const lowest = 10_000;
const highest = 20_000;
const maxTries = 200;

/**
 * A free TCP port of 127.0.0.1. No other call answers it while this process lives, and the
 * operating system assigns it to no connection.
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < maxTries; tries++) {
    const port = randomInt(lowest, highest);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
  throw new Error(`No free port was found between ${lowest} and ${highest}.`);
}

/**
 * Reserves the port against other calls, also of other processes, before its owner listens: a
 * system of many services takes minutes to start. Holding the UDP port of the same number is the
 * reservation; no server of the tests listens on UDP.
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
