// The parts every service is framed with (log, health, metrics, context keys, bus), and the order in which parts start and stop.
import { randomUUID } from 'node:crypto';
import type { JWK } from 'jose';
import {
  type ContextSigner,
  type ContextVerifier,
  createContextSigner,
  createContextVerifier,
} from '../caller/call-context.ts';
import type { CommonConfig } from '../config/config.ts';
import type { Bus } from '../messaging/bus/bus.ts';
import { createBus } from '../messaging/create-bus.ts';
import { Health } from '../observability/health.ts';
import { createLogger, type DestinationStream, type Logger } from '../observability/logger.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import { type ClosableRpcClient, createRpcClient } from '../rpc/client.ts';
import type { RpcServiceName } from '../rpc/contract.ts';
import { type ServiceTls, watchServiceTls } from '../tls/service-tls.ts';
import { type EventLoop, watchEventLoop } from './event-loop.ts';
import { watchBus } from './service-metrics.ts';

export type ServiceRuntime = {
  config: CommonConfig;
  /** Unique per process: names of leases, of subscriptions. */
  instance: string;
  logger: Logger;
  health: Health;
  metrics: Metrics;
  bus: Bus;
  eventLoop: EventLoop;
  signContext: ContextSigner;
  /** A client of another service at host:port, as this service. */
  rpcClient: <N extends RpcServiceName>(service: N, address: string) => ClosableRpcClient<N>;
  /** For the service's own gRPC server. */
  rpcTls: ServiceTls | undefined;
  /** For the service's own HTTP server. */
  httpTls: ServiceTls | undefined;
  verifyContext: ContextVerifier;
};

/** What a test puts in place of what the process has: here, where log lines go instead of stdout. */
export type Overrides = { log?: DestinationStream };

/** Makes the common parts; nothing connects yet. */
export async function createServiceRuntime(config: CommonConfig, { log }: Overrides = {}): Promise<ServiceRuntime> {
  const instance = `${config.name}-${randomUUID().slice(0, 8)}`;
  const logger = createLogger(config.name, config.logLevel, log);
  const health = new Health();
  const metrics = createMetrics({ processMetrics: true, service: config.name });
  const onUnreadable = (queue: string) => metrics.unreadableMessages.inc({ queue });
  const bus = createBus(config.secrets.busUrl, { service: config.name, instance, logger, onUnreadable });
  health.addInfoCheck('bus', () => bus.isReady());
  const eventLoop = watchEventLoop(config.loopDelayMs);
  health.addReadinessCheck('event_loop', () => !eventLoop.isLate());
  watchBus(metrics, bus);
  const rpcTls = config.rpcTls && watchServiceTls(config.rpcTls, logger);
  if (rpcTls)
    metrics.gauge(
      'almanac_rpc_certificate_expires_seconds',
      'When the certificate of the service ends, since 1970.',
      () => rpcTls.expiresAt(),
    );
  const signContext = await createContextSigner(config.name, config.secrets.contextKey as JWK);
  return {
    config,
    instance,
    logger,
    health,
    metrics,
    bus,
    eventLoop,
    signContext,
    rpcClient: (service, address) => createRpcClient(service, address, signContext, rpcTls),
    rpcTls,
    httpTls: config.httpTls ? rpcTls : undefined,
    verifyContext: createContextVerifier(config.contextKeys, config.name),
  };
}

/** Something that starts and stops with the service; `start` may answer the port it listens on. */
export type Part = { name: string; start?: () => Promise<unknown>; stop?: () => Promise<unknown> | unknown };

/** Starts parts in order (what fails stops what had started) and stops them in reverse, each once, after readiness went off. */
export function createLifecycle(
  runtime: Pick<ServiceRuntime, 'logger' | 'health' | 'config' | 'eventLoop'> & Partial<Pick<ServiceRuntime, 'rpcTls'>>,
  parts: Part[],
) {
  const started: Part[] = [];
  let stopped: Promise<void> | undefined;
  const stopAll = async () => {
    runtime.health.drain();
    if (runtime.config.drainSeconds > 0 && started.length === parts.length)
      await new Promise((resolve) => setTimeout(resolve, runtime.config.drainSeconds * 1000));
    for (const part of started.toReversed()) {
      try {
        await part.stop?.();
      } catch (error) {
        runtime.logger.warn({ err: error, part: part.name }, 'a part did not stop cleanly');
      }
    }
    runtime.eventLoop.stop();
    runtime.rpcTls?.stop();
    runtime.logger.info('stopped');
  };
  const stop = () => {
    stopped ??= stopAll();
    return stopped;
  };
  const start = async () => {
    const answers: Record<string, unknown> = {};
    for (const part of parts) {
      try {
        answers[part.name] = await part.start?.();
        started.push(part);
      } catch (error) {
        await stop();
        throw error;
      }
    }
    runtime.health.markStarted();
    runtime.logger.info({ http_port: answers.http, rpc_port: answers.rpc }, 'ready');
    return { httpPort: answers.http as number, rpcPort: answers.rpc as number | undefined };
  };
  return { start, stop };
}
