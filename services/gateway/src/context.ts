// What the parts of the gateway that handle calls are given.
import type { ContextSigner } from '@almanac/service-kit/call-context';
import type { Frame } from '@almanac/service-kit/frame';
import type { GatewayConfig } from './config.ts';
import type { CallerLimits } from './edge/caller-limits.ts';
import type { NoteRefusal } from './edge/refused-scopes.ts';
import type { RouteMatcher } from './edge/route-matcher.ts';
import type { Upstreams } from './edge/upstreams.ts';
import type { Meter } from './metering/meter.ts';
import type { ApiRoute } from './routes.ts';
import type { TokenVerifier } from './tokens/token-verifier.ts';

export type GatewayContext = {
  config: GatewayConfig;
  publicUrl: URL;
  frame: Pick<Frame, 'logger' | 'health' | 'metrics' | 'eventLoop'>;
  matchRoute: RouteMatcher<ApiRoute>;
  tokens: TokenVerifier;
  meter: Meter;
  callerLimits: CallerLimits;
  upstreams: Upstreams;
  noteRefusal: NoteRefusal;
  signContext: ContextSigner;
};
