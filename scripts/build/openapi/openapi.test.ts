import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { requiredScope } from '@almanac/service-kit/api/route';
import { examples } from '../../../services/gateway/src/documents/examples.ts';
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

const document = makeDocument();
type Media = { schema: { $ref?: string }; example?: unknown };
type Content = Record<string, Media>;
type Operation = {
  operationId: string;
  tags: string[];
  description?: string;
  security: Record<string, string[]>[];
  'x-user-context'?: boolean;
  parameters: { name: string; description?: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
const operations = Object.values(document.paths).flatMap((path) => Object.values(path) as unknown as Operation[]);

/** The bodies of requests and answers that are JSON, with what they belong to. */
const bodies = operations.flatMap(({ operationId, requestBody, responses }) =>
  [['request', requestBody] as const, ...Object.entries(responses)].flatMap(([what, body]) => {
    const media = body?.content?.['application/json'];
    return media ? [{ name: `${operationId} ${what}`, operationId, what, media }] : [];
  }),
);

it('every operation has a name of its own', () => {
  const names = operations.map(({ operationId }) => operationId);
  expect(new Set(names).size).toBe(names.length);
});

it('every operation and every parameter is described, and every tag', () => {
  const isDescribed = ({ description = '' }: { description?: string }) => /^.{8,}[.`]$/s.test(description);
  const wrong = operations.flatMap((operation) => [
    ...(isDescribed(operation) ? [] : [operation.operationId]),
    ...operation.parameters
      .filter((parameter) => !isDescribed(parameter))
      .map(({ name }) => `${operation.operationId} ${name}`),
  ]);
  expect(wrong).toEqual([]);
  const tags = document.tags as { name: string }[];
  expect(tags.map(({ name }) => name).toSorted()).toEqual(
    [...new Set(operations.flatMap((one) => one.tags))].toSorted(),
  );
});

it('every body is a schema with a name, and resources have theirs', () => {
  expect(bodies.filter(({ media }) => !media.schema.$ref).map(({ name }) => name)).toEqual([]);
  expect(Object.keys(document.components.schemas as object)).toEqual(
    expect.arrayContaining([
      ...['Account', 'AuditEvent', 'Branch', 'ColumnDefinition', 'DeployedTableDefinition', 'Deployment', 'Domain'],
      ...['Error', 'Export', 'GridFilter', 'Import', 'ImportMapping', 'ImportTable', 'OauthApplication', 'Permission'],
      ...['Promotion', 'QueryGridRequest', 'TableDefinition', 'TableRecord', 'Token', 'User', 'UserGroup'],
      ...['DomainPage', 'TableRecordPage', 'PageMeta', 'NewDomain', 'DomainChanges'],
    ]),
  );
});

it('every reference leads to a schema', () => {
  const names = [...asText(document).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)].map(([, kind, name]) => [
    kind,
    name,
  ]);
  const components = document.components as Record<string, Record<string, unknown>>;
  expect(names.filter(([kind, name]) => !(String(name) in (components[String(kind)] ?? {})))).toEqual([]);
});

it('numbers have the bounds of rules alone', () => {
  expect(asText(document)).not.toContain('9007199254740991');
});

it('an operation that needs a person takes the authorization code flow alone', () => {
  const ways = operations
    .filter((operation) => operation['x-user-context'])
    .map(({ security, description }) => [
      ...security.flatMap(Object.keys),
      description?.includes('**Needs a person**'),
    ]);
  expect(ways.length).toBeGreaterThan(20);
  expect(new Set(ways.map(String))).toEqual(new Set(['authorization_code,true']));
});

it('every request and every answer has a recorded example (else: npm run examples)', () => {
  const without = bodies.filter(({ what, media }) => /^(request|2..)$/.test(what) && media.example === undefined);
  expect(without.map(({ name }) => name)).toEqual([]);
  const known = new Set(operations.map(({ operationId }) => operationId));
  expect(Object.keys(examples).filter((name) => !known.has(name))).toEqual([]);
});

it('the recorded requests are those of the declarations, apart from ids (else: npm run examples)', () => {
  // Ids are numbers or UUIDs; keys of tables are those of the demo data, which has a password of
  // its own.
  const isId = (value: unknown) =>
    typeof value === 'number' || /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(String(value));
  const comparable = (body: unknown) =>
    JSON.stringify(body, (name, value) => (name === 'current_password' || isId(value) ? 0 : value));
  const changed = Object.values(makeDocument({}).paths)
    .flatMap((path) => Object.values(path) as unknown as Operation[])
    .filter(({ operationId, requestBody }) => {
      const declared = requestBody?.content['application/json']?.example;
      return declared !== undefined && comparable(declared) !== comparable(examples[operationId]?.request);
    });
  expect(changed.map(({ operationId }) => operationId)).toEqual([]);
});

it('docs/openapi.json is what the services declare (else: npm run openapi)', () => {
  const kept = readFileSync(resolve(import.meta.dirname, '../../../docs/openapi.json'), 'utf8');
  const declared = asText(document).split('\n');
  // The first line that differs, since the whole is megabytes.
  const at = kept.split('\n').findIndex((line, place) => line !== declared[place]);
  expect({ line: at + 1, kept: kept.split('\n')[at] }).toEqual({ line: 0, kept: undefined });
  expect(kept.length).toBe(asText(document).length);
});
