// Ports for what tests start.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the ports that systems give to outgoing connections and to whoever asks for any (32768 and up on Linux), which could
// take one before its owner does or while its owner is away for a moment; and below those of an embedded system (20000 and up).
const lowest = 10_000;
const highest = 20_000;
const mostTries = 200;

/** A port of 127.0.0.1 that nobody listens on, and that nobody is given by the operating system. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries++) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port was found between ${lowest} and ${highest}.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
