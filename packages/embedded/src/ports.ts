// Ports for parts that only talk to each other, and the check that the public one is free.
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

// Below the range from which systems take the local ports of outgoing connections (32768 and up on Linux, 49152 elsewhere):
// a part that is started again must find its port still free.
const lowest = 20_000;
const highest = 32_000;

/** `count` different free ports of 127.0.0.1. */
export async function findFreePorts(count: number): Promise<number[]> {
  const held: { server: Server; port: number }[] = [];
  try {
    for (let attempt = 0; held.length < count; attempt++) {
      if (attempt > 50 * count) throw new Error(`No free port was found between ${lowest} and ${highest}.`);
      const port = randomInt(lowest, highest);
      const server = await listen(port).catch(() => undefined);
      if (server) held.push({ server, port });
    }
    return held.map(({ port }) => port);
  } finally {
    await Promise.all(held.map(({ server }) => new Promise((done) => server.close(done))));
  }
}

/** Throws, with advice, when the port clients use is taken by another program. */
export async function requireFreePort(port: number, host: string): Promise<void> {
  try {
    const server = await listen(port, host);
    await new Promise((done) => server.close(done));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE')
      throw new Error(`Port ${port} is in use by another program. Choose another one: PORT=${port + 1} npm start`);
    if (code === 'EACCES')
      throw new Error(`Port ${port} needs special rights. Choose another one: PORT=8080 npm start`);
    throw new Error(`Cannot listen on ${host}:${port}: ${(error as Error).message}`);
  }
}

function listen(port: number, host = '127.0.0.1'): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
}
