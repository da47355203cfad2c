// Starts the bare server and the bare proxy, each a process of its own.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Target } from '../measuring/product.ts';

export type BareServer = { target: Target; pid: number; stop(): void };

/** Starts the server over the bare database. */
export const startBareServer = (databaseUrl: string) => start('bare-server.ts', databaseUrl, async () => ({}));

/** Starts the proxy in front of a service; it takes what the service takes. */
export const startBareProxy = (service: Target) =>
  start('bare-proxy.ts', `http://127.0.0.1:${service.port}`, service.headers);

function start(file: string, argument: string, headers: Target['headers']): Promise<BareServer> {
  const child = fork(join(import.meta.dirname, file), [argument], { stdio: 'inherit' });
  return new Promise((done, fail) => {
    child.once('exit', (code) => fail(new Error(`${file} ended with ${code}`)));
    child.once('message', (port) =>
      done({
        target: { port: Number(port), headers },
        pid: child.pid as number,
        stop: () => void child.kill(),
      }),
    );
  });
}
