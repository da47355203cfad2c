// What the steps of the gateway work with.
import type { ContextSigner } from '@almanac/service-kit/caller/call-context';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { AccountMeters } from './admission/account-meters.ts';
import type { DefaultHeader } from './answers/default-headers.ts';
import type { AuditRefusal } from './authentication/refusal-audit.ts';
import type { TokenVerifier } from './authentication/token-verifier.ts';
import type { GatewayConfig } from './config.ts';
import type { Document } from './documents/document.ts';
import type { Upstreams } from './forwarding/upstreams.ts';

export type GatewayContext = {
  config: GatewayConfig;
  publicUrl: URL;
  runtime: Pick<ServiceRuntime, 'logger' | 'health' | 'metrics' | 'eventLoop'>;
  tokens: TokenVerifier;
  meters: AccountMeters;
  upstreams: Upstreams;
  /** Headers of every answer, unless the service that answers sets its own. */
  defaultHeaders: readonly DefaultHeader[];
  /** The OpenAPI document of all services. */
  openApi: () => Promise<Document>;
  auditRefusal: AuditRefusal;
  signContext: ContextSigner;
};
