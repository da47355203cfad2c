// Starts the bare server, a process of its own.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Target } from './product.ts';

export type BareServer = { target: Target; pid: number; stop(): void };

/** Starts it over the bare database. */
export function startBareServer(databaseUrl: string): Promise<BareServer> {
  const child = fork(join(import.meta.dirname, 'bare-server.ts'), [databaseUrl], { stdio: 'inherit' });
  return new Promise((done, fail) => {
    child.once('exit', (code) => fail(new Error(`The bare server ended with ${code}`)));
    child.once('message', (port) =>
      done({
        target: { port: Number(port), headers: async () => ({}) },
        pid: child.pid as number,
        stop: () => void child.kill(),
      }),
    );
  });
}
