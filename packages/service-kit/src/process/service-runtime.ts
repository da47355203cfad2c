// The parts that every service has (logger, health, metrics, context keys, bus), and the order in
// which a service's parts start and stop.
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
import { createBus, isBroker } from '../messaging/create-bus.ts';
import { Health } from '../observability/health.ts';
import { createLogger, type DestinationStream, type Logger } from '../observability/logger.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import { type ClosableRpcClient, createRpcClient } from '../rpc/client.ts';
import type { RpcServiceName } from '../rpc/contract.ts';
import { createRpcServer, type RpcServer, type RpcServerOptions } from '../rpc/server.ts';
import { type ServiceTls, watchServiceTls } from '../tls/service-tls.ts';
import { type EventLoop, watchEventLoop } from './event-loop.ts';
import { createHttpServer, type HttpOptions, type HttpServer } from './http-server.ts';
import { type NeededServers, watchNeededServers } from './needed-servers.ts';
import type { Part } from './part.ts';
import { watchBus } from './service-metrics.ts';

/** What a service adds to its HTTP server: routes, and handlers outside /api/v1. */
type HttpParts = Pick<HttpOptions, 'routes' | 'onRefused' | 'mount' | 'described'>;

/** What a service adds to its gRPC server. */
type RpcParts<N extends RpcServiceName> = Pick<RpcServerOptions<N>, 'service' | 'port' | 'handlers' | 'callers'>;

/** Logger, health, metrics, keys and bus of a service. */
export type ServiceRuntime = {
  config: CommonConfig;
  /** Unique for each process: names its leases and subscriptions. */
  instance: string;
  logger: Logger;
  health: Health;
  metrics: Metrics;
  bus: Bus;
  eventLoop: EventLoop;
  neededServers: NeededServers;
  signContext: ContextSigner;
  /** A client of another service at host:port, with this service as the caller. */
  rpcClient: <N extends RpcServiceName>(service: N, address: string) => ClosableRpcClient<N>;
  /** The service's own HTTP server; nothing listens until its `start`. */
  httpServer: (parts: HttpParts) => HttpServer;
  /** The service's own gRPC server; nothing listens until its `start`. */
  rpcServer: <N extends RpcServiceName>(parts: RpcParts<N>) => RpcServer;
  /** Certificates between services; undefined without TLS. */
  rpcTls: ServiceTls | undefined;
  verifyContext: ContextVerifier;
};

/** Replacements for tests: `log` takes the log lines instead of stdout. */
export type Overrides = { log?: DestinationStream };

/** Creates the common parts. Nothing connects yet. */
export async function createServiceRuntime(config: CommonConfig, { log }: Overrides = {}): Promise<ServiceRuntime> {
  const instance = `${config.name}-${randomUUID().slice(0, 8)}`;
  const logger = createLogger(config.name, config.logLevel, log);
  const health = new Health();
  const metrics = createMetrics({ processMetrics: true, service: config.name });
  const onUnreadable = (queue: string) => metrics.unreadableMessages.inc({ queue });
  const bus = createBus(config.secrets.busUrl, { service: config.name, instance, logger, onUnreadable });
  health.addInfoCheck('bus', () => bus.isReady());
  const neededServers = watchNeededServers(logger);
  if (isBroker(config.secrets.busUrl)) neededServers.add('bus', () => bus.isReady());
  const eventLoop = watchEventLoop(config.loopDelayMs);
  health.addReadinessCheck('event_loop', () => !eventLoop.isLate());
  watchBus(metrics, bus);
  const rpcTls = config.rpcTls && watchServiceTls(config.rpcTls, logger);
  if (rpcTls)
    metrics.gauge(
      'almanac_rpc_certificate_expires_seconds',
      'Expiry of the service certificate, in seconds since 1970.',
      () => rpcTls.expiresAt(),
    );
  const signContext = await createContextSigner(config.name, config.secrets.contextKey as JWK);
  const verifyContext = createContextVerifier(config.contextKeys, config.name);
  const served = { logger, metrics, verifyContext, host: config.host };
  const httpTls = config.httpTls ? rpcTls : undefined;
  return {
    config,
    instance,
    logger,
    health,
    metrics,
    bus,
    eventLoop,
    neededServers,
    signContext,
    rpcClient: (service, address) => createRpcClient(service, address, signContext, rpcTls),
    httpServer: (parts) =>
      createHttpServer({ ...served, ...parts, service: config.name, port: config.httpPort, health, tls: httpTls }),
    rpcServer: (parts) => createRpcServer({ ...served, ...parts, tls: rpcTls }),
    rpcTls,
    verifyContext,
  };
}

/**
 * Starts parts in order, and stops them in reverse after readiness is off. A failed start stops
 * all.
 */
export function createLifecycle(
  runtime: Pick<ServiceRuntime, 'logger' | 'health' | 'config' | 'eventLoop'> &
    Partial<Pick<ServiceRuntime, 'rpcTls' | 'neededServers'>>,
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
    await runtime.neededServers?.stop();
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
    await runtime.neededServers?.start();
    runtime.logger.info({ http_port: answers.http, rpc_port: answers.rpc }, 'ready');
    return { httpPort: answers.http as number, rpcPort: answers.rpc as number | undefined };
  };
  return { start, stop };
}
