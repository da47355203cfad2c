// The endpoints of all services as they declare them, without starting any: what the OpenAPI document is made of.
import { mergeOpenApi, type OpenApiDocument, openApiFragment } from '@almanac/service-kit/api/openapi';
import type { Route } from '@almanac/service-kit/api/route';
import { routes as billingRoutes } from '../../../services/billing/src/http.ts';
import { dataRoutes } from '../../../services/data/src/http.ts';
import { identityRoutes } from '../../../services/identity/src/http.ts';
import { routes as jobsRoutes } from '../../../services/jobs/src/http.ts';
import { metadataRoutes } from '../../../services/metadata/src/http.ts';

// Declaring a route touches nothing of the service; whatever a declaration reads of its context is nothing, all the way down.
const nothing: never = new Proxy(() => nothing, { get: () => nothing, apply: () => nothing }) as never;

export type ServiceRoutes = { service: string; routes: Route[] };

/** All services with their declarations, in the order of the architecture. */
export const declaredRoutes: ServiceRoutes[] = [
  { service: 'identity', routes: identityRoutes(nothing) },
  { service: 'metadata', routes: metadataRoutes(nothing) },
  { service: 'data', routes: dataRoutes(nothing) },
  { service: 'jobs', routes: jobsRoutes(nothing) },
  { service: 'billing', routes: billingRoutes(nothing) },
];

/** The document as the gateway of a system at its default address answers it. */
export function makeDocument(): OpenApiDocument {
  const fragments = declaredRoutes.map(({ service, routes }) => openApiFragment(service, routes));
  return mergeOpenApi(fragments, 'http://127.0.0.1:8080');
}

/** As it is kept in docs/openapi.json. */
export const asText = (document: OpenApiDocument) => `${JSON.stringify(document, null, 2)}\n`;
