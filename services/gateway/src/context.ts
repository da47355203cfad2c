// What the steps of the gateway are given.
import type { ContextSigner } from '@almanac/service-kit/caller/call-context';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { GatewayConfig } from './config.ts';
import type { Upstreams } from './forwarding/upstreams.ts';
import type { Meter } from './metering/meter.ts';
import type { DefaultHeader } from './steps/default-headers.ts';
import type { NoteRefusal } from './tokens/refused-scopes.ts';
import type { TokenVerifier } from './tokens/token-verifier.ts';

export type GatewayContext = {
  config: GatewayConfig;
  publicUrl: URL;
  runtime: Pick<ServiceRuntime, 'logger' | 'health' | 'metrics' | 'eventLoop'>;
  tokens: TokenVerifier;
  meter: Meter;
  upstreams: Upstreams;
  /** What every answer carries unless the service that answers says otherwise. */
  defaults: readonly DefaultHeader[];
  /** The OpenAPI document of all services, as text. */
  openApi: () => Promise<string>;
  noteRefusal: NoteRefusal;
  signContext: ContextSigner;
};
