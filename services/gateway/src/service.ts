// The gateway, put together: the only place that constructs things. Parts start in the order of the list and stop in reverse,
// so that calls end first and what they counted is booked before billing and the bus are let go.
import { createFrame, createLifecycle, type Overrides } from '@almanac/service-kit/frame';
import { createRouteMatcher } from '@almanac/service-kit/route-matcher';
import type { Service } from '@almanac/service-kit/run';
import type { GatewayConfig } from './config.ts';
import type { GatewayContext } from './context.ts';
import { createOpenApiDocument } from './documents/openapi-document.ts';
import { createPages } from './documents/pages.ts';
import { answerBegins } from './edge/api-calls.ts';
import { createCallerLimits } from './edge/caller-limits.ts';
import { createNoteRefusal } from './edge/refused-scopes.ts';
import type { FindReplicas } from './edge/replicas.ts';
import { createUpstreams } from './edge/upstreams.ts';
import { createEdgeServer } from './http.ts';
import { createMeter } from './metering/meter.ts';
import { createMetricsServer } from './metrics-server.ts';
import { apiRoutes } from './routes.ts';
import { createRevocations } from './tokens/revocations.ts';
import { createSigningKeys } from './tokens/signing-keys.ts';
import { createTokenVerifier } from './tokens/token-verifier.ts';

export async function createGateway(
  config: GatewayConfig,
  overrides: Overrides & { findReplicas?: FindReplicas } = {},
): Promise<Service<GatewayContext>> {
  const frame = await createFrame(config.common, overrides);
  const { logger, health, metrics, bus, signContext, instance } = frame;
  const { publicUrl } = config.common;
  const identity = frame.rpcClient('identity', config.identityRpc);
  const billing = frame.rpcClient('billing', config.billingRpc);

  const revocations = createRevocations({ identity: identity.client, bus, logger });
  const keys = createSigningKeys({ identityUrl: config.upstreams.identity, bus, logger });
  const meter = createMeter({
    billing: billing.client,
    gatewayId: instance,
    graceCalls: config.graceCalls,
    reserveDeadlineMs: config.reserveDeadlineMs,
    logger,
    bus,
  });
  const upstreams = createUpstreams({
    urls: config.upstreams,
    times: config.upstreamTimes,
    mostOpen: config.limits.serviceRequests,
    logger,
    find: overrides.findReplicas,
    isDraining: () => health.isDraining,
    onAnswer: answerBegins,
  });
  const context: GatewayContext = {
    config,
    publicUrl: new URL(publicUrl),
    frame,
    matchRoute: createRouteMatcher(apiRoutes),
    tokens: createTokenVerifier({ publicUrl, keys, revocations }),
    meter,
    callerLimits: createCallerLimits(config.limits),
    upstreams,
    noteRefusal: createNoteRefusal({ bus, logger, trustedHops: config.trustedHops }),
    signContext,
  };
  const pages = createPages({ health, openApi: createOpenApiDocument(upstreams, publicUrl) });
  const http = createEdgeServer(context, pages);
  health.need('revocations', () => revocations.isReady());
  metrics.gauge('almanac_gateway_open_exchanges', 'Requests under way.', () => http.open());
  metrics.gauges('almanac_gateway_service_requests', 'Requests under way at a service.', 'upstream', upstreams.open);
  metrics.gauges('almanac_gateway_replicas', 'Replicas that take requests.', 'upstream', upstreams.usable);
  metrics.gauge('almanac_gateway_metered_accounts', 'Accounts whose calls are counted here.', () => meter.accounts());

  const { metricsPort } = config;
  const metricsServer =
    metricsPort === undefined
      ? undefined
      : createMetricsServer({ host: config.common.host, port: metricsPort, metrics });
  const lifecycle = createLifecycle(frame, [
    { name: 'identity', stop: () => identity.close() },
    { name: 'billing', stop: () => billing.close() },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'keys', start: () => keys.start(), stop: () => keys.stop() },
    { name: 'revocations', start: () => revocations.start(), stop: () => revocations.stop() },
    { name: 'meter', start: () => meter.start(), stop: () => meter.stop() },
    { name: 'upstreams', start: () => upstreams.start(), stop: () => upstreams.close() },
    { name: 'metrics', start: async () => metricsServer?.start(), stop: () => metricsServer?.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context, ...lifecycle };
}
