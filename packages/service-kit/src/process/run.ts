// The life of a service process: read configuration, migrate, start, wait for a signal, drain, stop. Importing has no effect.
import { ConfigError, type Environment } from '../config/config.ts';
import { createLogger } from '../observability/logger.ts';
import { startTracing } from '../observability/tracing/start.ts';
import { tracing } from '../observability/tracing/tracing.ts';

/** What `createX(config)` of each service answers. */
export type Service<C = unknown> = {
  context: C;
  /** Connects and listens; answers the ports in use. */
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

/** Runs a service as a process: `main.ts` to serve, `main.ts migrate` to bring its database up to date and leave. */
export async function runService<C>(runnable: Runnable<C>): Promise<void> {
  process.on('uncaughtException', (error) => leave(runnable.name, error, 'crashed'));
  try {
    const config = runnable.readConfig(process.env);
    if (process.argv[2] === 'migrate') {
      await runnable.migrate?.(config);
      return;
    }
    await startTracing(runnable.name, process.env);
    const service = await runnable.create(config);
    stopOnSignal(runnable.name, service);
    await service.start();
    process.send?.('ready');
  } catch (error) {
    leave(runnable.name, error, 'did not start');
  }
}

// Node itself would print all there is on an error: statements, requests, addresses with passwords.
function leave(name: string, error: unknown, what: string): never {
  if (error instanceof ConfigError) console.error(`${name}: ${error.message}`);
  else createLogger(name, 'info').fatal({ err: error }, what);
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
      await tracing?.stop().catch(() => {}); // a collector that is away keeps nobody from stopping
    };
    end().then(
      () => process.exit(0),
      (error: unknown) => leave(name, error, 'did not stop cleanly'),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('disconnect', stop); // the supervisor that started this process has gone
}
