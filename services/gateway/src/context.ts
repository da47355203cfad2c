// What the parts of the gateway that handle calls are given.
import type { ContextSigner } from '@almanac/service-kit/call-context';
import type { Health } from '@almanac/service-kit/health';
import type { Logger } from '@almanac/service-kit/logger';
import type { Metrics } from '@almanac/service-kit/metrics';
import type { GatewayConfig } from './config.ts';
import type { Upstreams } from './edge/upstreams.ts';
import type { Meter } from './metering/meter.ts';
import type { RouteMatcher } from './route-matcher.ts';
import type { TokenVerifier } from './tokens/token-verifier.ts';

export type GatewayContext = {
  config: GatewayConfig;
  publicUrl: URL;
  logger: Logger;
  health: Health;
  metrics: Metrics;
  matchRoute: RouteMatcher;
  tokens: TokenVerifier;
  meter: Meter;
  upstreams: Upstreams;
  signContext: ContextSigner;
};
