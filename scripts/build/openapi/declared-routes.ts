// The declared endpoints of all services, without a running service: the source of the OpenAPI
// document.
import {
  mergeOpenApi,
  type OpenApiDocument,
  type OpenApiFragment,
  openApiFragment,
} from '@almanac/service-kit/api/openapi';
import type { Route } from '@almanac/service-kit/api/route';
import { billingRoutes } from '../../../services/billing/src/http.ts';
import { dataRoutes } from '../../../services/data/src/http.ts';
import { examples as recordedExamples } from '../../../services/gateway/src/documents/examples.ts';
import { identityRoutes } from '../../../services/identity/src/http.ts';
import { oauthDocument } from '../../../services/identity/src/oauth/oauth-document.ts';
import { jobsRoutes } from '../../../services/jobs/src/http.ts';
import { metadataRoutes } from '../../../services/metadata/src/http.ts';

// Declarations use no part of a service: every member that they read of this context is a stub.
const nothing: never = new Proxy(() => nothing, { get: () => nothing, apply: () => nothing }) as never;

export type ServiceRoutes = { service: string; routes: Route[]; described?: OpenApiFragment };

/** All services with their routes, in the order of the architecture. */
export const declaredRoutes: ServiceRoutes[] = [
  { service: 'identity', routes: identityRoutes(nothing), described: oauthDocument() },
  { service: 'metadata', routes: metadataRoutes(nothing) },
  { service: 'data', routes: dataRoutes(nothing) },
  { service: 'jobs', routes: jobsRoutes(nothing, nothing) },
  { service: 'billing', routes: billingRoutes(nothing) },
];

/** The document as the gateway of a system at its default address serves it. */
export function makeDocument(examples = recordedExamples): OpenApiDocument {
  const fragments = declaredRoutes.map(({ service, routes, described }) => openApiFragment(service, routes, described));
  return mergeOpenApi(fragments, 'http://127.0.0.1:8080', examples);
}

/** The text of docs/openapi.json. */
export const asText = (document: OpenApiDocument) => `${JSON.stringify(document, null, 2)}\n`;
