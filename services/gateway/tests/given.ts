// Fixtures of the gateway's tests: a gateway among its neighbours, faked or real, and calls of it.
import { request } from 'node:http';
import type { TestKeys } from '@almanac/testkit/calls/keys';
import type { TestDatabase } from '@almanac/testkit/postgres/postgres';
import { watchLog } from '@almanac/testkit/secrets/watched-logs';
import { waitLonger } from '@almanac/testkit/time-limits';
import type { GatewayConfig } from '../src/config.ts';
import { createGateway } from '../src/service.ts';
import { type FakeBilling, type FakeIdentity, type FakeServices, publicUrl } from './fakes.ts';

/** All that a gateway talks to. */
export type Fakes = {
  keys: TestKeys;
  database: TestDatabase;
  services: FakeServices;
  identity: FakeIdentity;
  billing: FakeBilling;
};

type Parts = 'common' | 'upstreams' | 'timeouts' | 'limits';

/** The settings that a test changes; `givenGateway` has the defaults. */
export type TestConfig = Partial<Omit<GatewayConfig, Parts>> & { [P in Parts]?: Partial<GatewayConfig[P]> };

export type TestGateway = {
  port: number;
  url: string;
  /** Its metrics as Prometheus reads them. */
  metrics(): Promise<string>;
  /** Its log so far. */
  log(): string;
  /** Stops it; further calls wait for the first. Throws when a secret stands in its log. */
  stop(): Promise<void>;
};

/**
 * A running gateway. Its bus is PostgreSQL, its limits and timeouts those of the product unless a
 * test narrows them.
 */
export async function givenGateway(
  { keys, database, services, identity, billing }: Fakes,
  config: TestConfig = {},
): Promise<TestGateway> {
  const log = watchLog();
  waitLonger();
  const settings: GatewayConfig = {
    graceCalls: 1_000,
    reserveDeadlineMs: 30_000, // a slow machine must not look like unreachable billing
    corsOrigins: [],
    console: true,
    compression: true,
    trustedHops: 0,
    connectMs: 30_000,
    keepMs: 2_000,
    identityRpc: identity.rpc,
    billingRpc: billing.rpc,
    ...config,
    common: {
      name: 'gateway',
      host: '127.0.0.1',
      httpPort: 0,
      publicUrl,
      logLevel: 'trace',
      drainSeconds: 0,
      loopDelayMs: 60_000, // … nor like an overloaded gateway
      secrets: { contextKey: keys.privateKeys.gateway as Record<string, unknown>, busUrl: database.url },
      contextKeys: keys.publicKeys,
      httpTls: false,
      ...config.common,
    },
    upstreams: {
      identity: identity.url,
      metadata: services.url,
      data: services.url,
      jobs: services.url,
      billing: services.url,
      console: services.url,
      ...config.upstreams,
    },
    timeouts: {
      headersMs: 20_000,
      idleMs: 65_000,
      clientMs: 20_000,
      readMs: 60_000,
      writeMs: 300_000,
      sweepMs: 5_000,
      ...config.timeouts,
    },
    limits: {
      connections: 16_384,
      addressConnections: 8_192,
      requests: 4_096,
      serviceRequests: 1_024,
      callerRequests: 512,
      accountBurst: 100_000,
      personBurst: 100,
      personMinute: 120,
      ...config.limits,
    },
  };
  const gateway = await createGateway(settings, { log: log.destination });
  const { httpPort } = await gateway.start();
  const stop = async () => {
    await gateway.stop();
    log.expectNoSecret();
  };
  let stopped: Promise<void> | undefined;
  return {
    port: httpPort,
    url: `http://127.0.0.1:${httpPort}`,
    metrics: () => gateway.context.runtime.metrics.text(),
    log: log.text,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** A call through the gateway with a bearer token. */
export function callWith(gateway: TestGateway, token: string, method: string, path: string, init: RequestInit = {}) {
  return fetch(`${gateway.url}${path}`, {
    ...init,
    method,
    redirect: 'manual',
    headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
  });
}

/** Runs it `count` times at once. */
export const times = <T>(count: number, run: () => Promise<T>) => Promise.all(Array.from({ length: count }, run));
export const statuses = async (answers: Promise<Response[]>) => (await answers).map(({ status }) => status);

/** GET with the path exactly as written; fetch would normalize it. */
export function getExactly(gateway: TestGateway, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ port: gateway.port, host: '127.0.0.1', path, agent: false }, async (answer) => {
      let body = '';
      for await (const chunk of answer) body += chunk;
      resolve({ status: answer.statusCode ?? 0, body });
    });
    sent.on('error', reject).end();
  });
}
