// A RabbitMQ of a test's own, on ports of its own, which can be killed and restarted with its data.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Certificate } from '@almanac/testkit/network/certificate';
import { findFreePort } from '@almanac/testkit/network/ports';

const script = resolve(import.meta.dirname, '../../scripts/servers/rabbitmq.sh');
const withinMs = 240_000;

export type OwnBroker = {
  url: string;
  /** Exchanges the certificate and restarts. TLS is on the port after its own. */
  certify(certificate: Certificate): Promise<void>;
  /** Ends it with SIGKILL, at once. */
  kill(): void;
  /** Starts it again on the same port, with the same data. */
  restart(): Promise<void>;
  /** Runs a command of `rabbitmqctl`; returns its output. */
  control(...words: string[]): Promise<string>;
  stop(): Promise<void>;
};

const run = async (...words: string[]) => {
  const { stdout } = await promisify(execFile)('bash', [script, ...words], { timeout: withinMs });
  return stdout;
};

/**
 * Starts it, with TLS too when it gets a certificate; installs RabbitMQ from the distribution if it
 * is missing.
 */
export async function startOwnBroker(certificate?: Certificate): Promise<OwnBroker> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-broker-'));
  const write = ({ cert, key }: Certificate) => {
    mkdirSync(join(folder, 'tls'), { recursive: true });
    writeFileSync(join(folder, 'tls/cert.pem'), cert);
    writeFileSync(join(folder, 'tls/key.pem'), key);
  };
  if (certificate) write(certificate);
  const { port, url } = await startOnFreePorts(folder);
  return {
    url,
    certify: async (next) => {
      await run('stop', folder);
      write(next);
      await run('start', folder, port);
    },
    kill: () => void process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL'),
    restart: async () => {
      await run('stop', folder); // the port mapper, and the notes of what runs
      await run('start', folder, port);
    },
    control: (...words) => run('control', folder, port, ...words),
    stop: async () => {
      await run('stop', folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// It takes two more ports beside its own, which another process may have.
async function startOnFreePorts(folder: string, tries = 3): Promise<{ port: string; url: string }> {
  const port = String(await findFreePort());
  try {
    return { port, url: /'(amqp:.*)'/.exec(await run('start', folder, port))?.[1] as string };
  } catch (error) {
    if (tries === 1) throw error;
    return startOnFreePorts(folder, tries - 1);
  }
}
