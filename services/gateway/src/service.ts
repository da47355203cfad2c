// Constructs the gateway; no other file creates its parts. They start in the order of the list and
// stop in reverse: calls end first, and their counts are reported before billing and the bus close.
import type { Service } from '@almanac/service-kit/process/run';
import { createLifecycle, createServiceRuntime, type Overrides } from '@almanac/service-kit/process/service-runtime';
import { createAccountMeters } from './admission/account-meters.ts';
import { createConsoleUsage } from './admission/console-usage.ts';
import { defaultHeaders } from './answers/default-headers.ts';
import { createRefusalAudit } from './authentication/refusal-audit.ts';
import { createRevocations } from './authentication/revocations.ts';
import { createSessions } from './authentication/sessions.ts';
import { createSigningKeys } from './authentication/signing-keys.ts';
import { createTokenVerifier } from './authentication/token-verifier.ts';
import { type GatewayConfig, upstreamNames } from './config.ts';
import type { GatewayContext } from './context.ts';
import { createOpenApiDocument } from './documents/openapi-document.ts';
import { closeUpstreams, createUpstreams } from './forwarding/upstreams.ts';
import { createMetricsServer } from './metrics-server.ts';
import { createGatewayServer } from './server.ts';
import { OpenStreams } from './streams/open-streams.ts';
import { requireAllowed } from './streams/stream-token.ts';

export async function createGateway(
  config: GatewayConfig,
  overrides: Overrides = {},
): Promise<Service<GatewayContext>> {
  const runtime = await createServiceRuntime(config.common, overrides);
  const { logger, health, metrics, bus, signContext, instance } = runtime;
  const { publicUrl } = config.common;
  const identity = runtime.rpcClient('identity', config.identityRpc);
  const billing = runtime.rpcClient('billing', config.billingRpc);

  const revocations = createRevocations({ identity: identity.client, bus, logger });
  const meters = createAccountMeters({
    billing: billing.client,
    gatewayId: instance,
    graceCalls: config.graceCalls,
    reserveDeadlineMs: config.reserveDeadlineMs,
    logger,
    bus,
  });
  const consoleUsage = createConsoleUsage({ billing: billing.client, logger });
  const url = new URL(publicUrl);
  const headers = defaultHeaders(url.protocol === 'https:');
  const upstreams = createUpstreams({
    urls: config.upstreams,
    tls: runtime.rpcTls,
    connectMs: config.connectMs,
    keepMs: config.keepMs,
    maxInFlight: config.limits.serviceRequests,
    defaultHeaders: headers,
    logger,
    isDraining: () => health.isDraining,
  });
  const keys = createSigningKeys({ identity: upstreams.identity, bus, logger });
  const tokens = createTokenVerifier({ publicUrl, keys, revocations });
  const streams = new OpenStreams({ requireAllowed: (res) => requireAllowed(tokens, res), logger });
  const context: GatewayContext = {
    config,
    publicUrl: url,
    runtime,
    tokens,
    sessions: createSessions({ publicUrl, identity: identity.client, revocations }),
    meters,
    consoleUsage,
    upstreams,
    streams,
    defaultHeaders: headers,
    openApi: createOpenApiDocument(upstreams, publicUrl),
    auditRefusal: createRefusalAudit({ bus, logger }),
    signContext,
  };
  const http = createGatewayServer(context);
  health.addReadinessCheck('revocations', () => revocations.isReady());
  metrics.gauge('almanac_gateway_requests_in_flight', 'Requests in flight.', () => http.inFlight());
  metrics.gauges('almanac_gateway_service_requests_in_flight', 'Requests in flight at a service.', 'upstream', () =>
    Object.fromEntries(upstreamNames.map((name) => [name, upstreams[name].inFlight()])),
  );
  metrics.gauge('almanac_gateway_streams_open', 'Open streams of events.', () => streams.size);
  metrics.gauge('almanac_gateway_metered_accounts', 'Accounts whose calls this gateway counts.', () => meters.size());

  const { metricsPort } = config;
  const metricsServer =
    metricsPort === undefined
      ? undefined
      : createMetricsServer({ host: config.common.host, port: metricsPort, metrics });
  const lifecycle = createLifecycle(runtime, [
    { name: 'identity', stop: () => identity.close() },
    { name: 'billing', stop: () => billing.close() },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'keys', start: () => keys.start(), stop: () => keys.stop() },
    { name: 'revocations', start: () => revocations.start(), stop: () => revocations.stop() },
    { name: 'meters', start: () => meters.start(), stop: () => meters.stop() },
    consoleUsage,
    { name: 'upstreams', stop: () => closeUpstreams(upstreams) },
    { name: 'metrics', start: async () => metricsServer?.start(), stop: () => metricsServer?.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
    { name: 'streams', start: () => streams.start(), stop: () => streams.stop() },
  ]);
  return { context, ...lifecycle };
}
