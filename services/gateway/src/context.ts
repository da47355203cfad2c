// What the steps of the gateway work with.
import type { ContextSigner } from '@almanac/service-kit/caller/call-context';
import type { Document } from '@almanac/service-kit/http/document';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { AccountMeters } from './admission/account-meters.ts';
import type { ConsoleUsage } from './admission/console-usage.ts';
import type { DefaultHeader } from './answers/default-headers.ts';
import type { AuditRefusal } from './authentication/refusal-audit.ts';
import type { Sessions } from './authentication/sessions.ts';
import type { TokenVerifier } from './authentication/token-verifier.ts';
import type { GatewayConfig } from './config.ts';
import type { Upstreams } from './forwarding/upstreams.ts';
import type { OpenStreams } from './streams/open-streams.ts';

export type GatewayContext = {
  config: GatewayConfig;
  publicUrl: URL;
  runtime: Pick<ServiceRuntime, 'logger' | 'health' | 'metrics' | 'eventLoop'>;
  tokens: TokenVerifier;
  sessions: Sessions;
  meters: AccountMeters;
  consoleUsage: ConsoleUsage;
  upstreams: Upstreams;
  streams: OpenStreams;
  /** Headers of every answer, unless the service that answers sets its own. */
  defaultHeaders: readonly DefaultHeader[];
  /** The OpenAPI document of all services. */
  openApi: () => Promise<Document>;
  auditRefusal: AuditRefusal;
  signContext: ContextSigner;
};
