// The life of a service process: read the configuration, start, wait for a signal, drain, stop.
// Importing this file has no effect.
import { ConfigError, type Environment } from '../config/config.ts';
import { createLogger } from '../observability/logger.ts';
import { startTracing } from '../observability/tracing/start.ts';
import { tracing } from '../observability/tracing/tracing.ts';
import { configExitCode, report } from './reports.ts';

/** What `createX(config)` of each service returns. */
export type Service<C = unknown> = {
  context: C;
  /** Connects and listens; returns the ports. */
  start(): Promise<{ httpPort: number; rpcPort?: number }>;
  /** Drains and closes everything; safe to call twice. */
  stop(): Promise<void>;
};

type Runnable<C> = {
  name: string;
  readConfig(env: Environment): C;
  migrate?(config: C): Promise<void>;
  create(config: C): Promise<Service> | Service;
};

const stopWithinMs = 30_000;

/**
 * Runs a service as a process: `main.ts` serves, `main.ts migrate` migrates its database and exits.
 */
export async function runService<C>(runnable: Runnable<C>): Promise<void> {
  process.on('uncaughtException', (error) => exitWith(runnable.name, error, 'crashed'));
  try {
    const config = runnable.readConfig(process.env);
    if (process.argv[2] === 'migrate') {
      await runnable.migrate?.(config);
      return;
    }
    await startTracing(runnable.name, process.env);
    const service = await runnable.create(config);
    await report({ configProblems: [] });
    stopOnSignal(runnable.name, service);
    await service.start();
    await report('ready');
  } catch (error) {
    if (error instanceof ConfigError) await report({ configProblems: error.problems });
    exitWith(runnable.name, error, 'did not start');
  }
}

// Node would print every property of the error: statements, requests, URLs with passwords.
function exitWith(name: string, error: unknown, what: string): never {
  if (error instanceof ConfigError) {
    console.error(`${name}: ${error.message}`);
    process.exit(configExitCode);
  }
  createLogger(name, 'info').fatal({ err: error }, what);
  process.exit(1);
}

function stopOnSignal(name: string, service: Service): void {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), stopWithinMs).unref();
    const end = async () => {
      await service.stop();
      await tracing?.stop().catch(() => {}); // a missing collector must not delay the exit
    };
    end().then(
      () => process.exit(0),
      (error: unknown) => exitWith(name, error, 'did not stop cleanly'),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('disconnect', stop); // the supervisor that started this process has ended
}
