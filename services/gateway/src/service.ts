// The gateway, put together: the only place that constructs things. Parts start in the order of the list and stop in reverse,
// so that calls end first and what they counted is booked before billing and the bus are let go.

import type { Service } from '@almanac/service-kit/process/run';
import { createLifecycle, createServiceRuntime, type Overrides } from '@almanac/service-kit/process/service-runtime';
import { type GatewayConfig, upstreamNames } from './config.ts';
import type { GatewayContext } from './context.ts';
import { createOpenApiDocument } from './documents/openapi-document.ts';
import { closeUpstreams, createUpstreams } from './forwarding/upstreams.ts';
import { createMeter } from './metering/meter.ts';
import { createMetricsServer } from './metrics-server.ts';
import { createEdgeServer } from './server.ts';
import { defaultHeaders } from './steps/default-headers.ts';
import { createNoteRefusal } from './tokens/refused-scopes.ts';
import { createRevocations } from './tokens/revocations.ts';
import { createSigningKeys } from './tokens/signing-keys.ts';
import { createTokenVerifier } from './tokens/token-verifier.ts';

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
  const meter = createMeter({
    billing: billing.client,
    gatewayId: instance,
    graceCalls: config.graceCalls,
    reserveDeadlineMs: config.reserveDeadlineMs,
    logger,
    bus,
  });
  const url = new URL(publicUrl);
  const defaults = defaultHeaders(url.protocol === 'https:');
  const upstreams = createUpstreams({
    urls: config.upstreams,
    tls: runtime.rpcTls,
    connectMs: config.connectMs,
    mostOpen: config.limits.serviceRequests,
    defaults,
    logger,
    isDraining: () => health.isDraining,
  });
  const keys = createSigningKeys({ identity: upstreams.identity, bus, logger });
  const context: GatewayContext = {
    config,
    publicUrl: url,
    runtime,
    tokens: createTokenVerifier({ publicUrl, keys, revocations }),
    meter,
    upstreams,
    defaults,
    openApi: createOpenApiDocument(upstreams, publicUrl),
    noteRefusal: createNoteRefusal({ bus, logger }),
    signContext,
  };
  const http = createEdgeServer(context);
  health.addReadinessCheck('revocations', () => revocations.isReady());
  metrics.gauge('almanac_gateway_open_exchanges', 'Requests under way.', () => http.open());
  metrics.gauges('almanac_gateway_service_requests', 'Requests under way at a service.', 'upstream', () =>
    Object.fromEntries(upstreamNames.map((name) => [name, upstreams[name].open()])),
  );
  metrics.gauge('almanac_gateway_metered_accounts', 'Accounts whose calls are counted here.', () => meter.accounts());

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
    { name: 'meter', start: () => meter.start(), stop: () => meter.stop() },
    { name: 'upstreams', stop: () => closeUpstreams(upstreams) },
    { name: 'metrics', start: async () => metricsServer?.start(), stop: () => metricsServer?.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context, ...lifecycle };
}
