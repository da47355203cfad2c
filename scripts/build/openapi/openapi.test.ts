import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { requiredScope } from '@almanac/service-kit/api/route';
import { apiRoutes } from '../../../services/gateway/src/routes.ts';
import { asText, declaredRoutes, makeDocument } from './declared-routes.ts';

const line = (service: string, method: string, path: string, scope: string, upload: boolean) =>
  `${service}: ${method} ${path.replace(/\{\w+\}/g, '{}')} needs ${scope}${upload ? ', takes a file' : ''}`;

const declared = declaredRoutes.flatMap(({ service, routes }) =>
  routes.map((route) => line(service, route.method, route.path, requiredScope(route), route.raw === true)),
);

it('the gateway routes exactly what the services declare, with the same scopes', () => {
  const routed = apiRoutes.map((route) => line(route.service, route.method, route.path, route.scope, route.upload));
  expect(routed.toSorted()).toEqual(declared.toSorted());
});

it('every operation is declared once', () => {
  expect(new Set(declared).size).toBe(declared.length);
});

it('every operation has a name of its own', () => {
  const names = Object.values(makeDocument().paths).flatMap((path) =>
    Object.values(path).map((operation) => operation.operationId),
  );
  expect(new Set(names).size).toBe(names.length);
});

it('docs/openapi.json is what the services declare (else: npm run openapi)', () => {
  const kept = readFileSync(resolve(import.meta.dirname, '../../../docs/openapi.json'), 'utf8');
  expect(kept).toBe(asText(makeDocument()));
});
