// Builds the OpenAPI 3.1 document from the schemas of the routes. Each service serves its fragment,
// the gateway merges them.
import { z } from 'zod';
import { errorProperties, errorSchema, problemSchema } from './error-schema.ts';
import { type Route, requiredScope } from './route.ts';

type Json = Record<string, unknown>;
export type OpenApiDocument = {
  openapi: string;
  info: Json;
  paths: Record<string, Record<string, Json>>;
  components: Json;
} & Json;

const asSchema = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _ignored, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  }) as Json;
  return rest;
};

const errorAnswer = (description: string): Json => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

const laterAnswer = (description: string): Json => ({
  ...errorAnswer(description),
  headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
});

const refusalAnswer = ({ refusal }: Route): Json => {
  const description = 'A rule is broken; every problem is listed.';
  if (!refusal) return errorAnswer(description);
  const more = asSchema(z.strictObject(refusal), 'output') as { properties: Json; required?: string[] };
  const schema = {
    ...more,
    required: [...errorSchema.required, ...(more.required ?? [])],
    properties: { ...errorProperties, ...more.properties },
  };
  return { description, content: { 'application/json': { schema } } };
};

function parameters(declared: Route): Json[] {
  const of = (shape: z.ZodRawShape | undefined, where: 'path' | 'query') =>
    Object.entries(shape ?? {}).map(([name, schema]) => {
      const { description, ...json } = asSchema(schema as z.ZodType, 'input');
      const required = where === 'path' || !(schema as z.ZodType).safeParse(undefined).success;
      return { name, in: where, required, schema: json, ...(description ? { description } : {}) };
    });
  const headers = Object.entries(declared.requestHeaders ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description,
  }));
  return [...of(declared.params, 'path'), ...of(declared.query, 'query'), ...headers];
}

function requestBody(declared: Route): Json | undefined {
  if (declared.raw)
    return {
      required: true,
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    };
  const attributes: z.ZodRawShape =
    declared.attributes && declared.resource
      ? { [declared.resource]: z.strictObject(declared.attributes) }
      : (declared.attributes ?? {});
  const shape = { ...(declared.body ?? {}), ...attributes };
  if (Object.keys(shape).length === 0) return undefined;
  const schema = z.strictObject(shape);
  const required = declared.attributes !== undefined || !schema.safeParse({}).success;
  const { example } = declared;
  const content = { schema: asSchema(schema, 'input'), ...(example ? { example } : {}) };
  return { required, content: { 'application/json': content } };
}

function operation(declared: Route, service: string): Json {
  const status = String(declared.status ?? 200);
  const success: Json = { description: status === '204' ? 'Done.' : 'Success.' };
  if (declared.response) success.content = { 'application/json': { schema: asSchema(declared.response, 'output') } };
  if (declared.produces) success.content = { [declared.produces]: { schema: { type: 'string' } } };
  const body = requestBody(declared);
  return {
    operationId: `${declared.method.toLowerCase()}${declared.path.replace(/[{}]/g, '').replace(/[/_](\w)/g, (_m, c: string) => c.toUpperCase())}`,
    tags: [declared.tag],
    summary: declared.summary,
    ...(declared.description ? { description: declared.description } : {}),
    security: [{ oauth2: [requiredScope(declared)] }],
    'x-service': service,
    ...(declared.extension ? { 'x-extension': true } : {}),
    ...(declared.user ? { 'x-user-context': true } : {}),
    parameters: parameters(declared),
    ...(body ? { requestBody: body } : {}),
    responses: {
      [status]: success,
      '400': errorAnswer('Missing or invalid parameters.'),
      '401': errorAnswer('Invalid or missing token, or no user context where one is needed.'),
      ...(declared.method === 'GET' ? {} : { '402': errorAnswer('Billing overdue; writes are blocked.') }),
      '403': errorAnswer('The scope or the right is missing.'),
      '404': errorAnswer('No such resource in this account.'),
      ...(declared.requestHeaders?.['If-Match']
        ? { '412': errorAnswer('Changed since: If-Match does not match.') }
        : {}),
      ...(body ? { '413': errorAnswer('The body is larger than the limit.') } : {}),
      ...(body && !declared.raw ? { '415': errorAnswer('The body is no application/json in UTF-8.') } : {}),
      ...(declared.method === 'GET' ? {} : { '422': refusalAnswer(declared) }),
      '429': laterAnswer(
        "The month's allowance is used up (`API allowance exceeded`), or the account makes too many calls at once or in ten seconds (`Too many requests`).",
      ),
      '500': errorAnswer('Something failed on the side of the service.'),
      '503': laterAnswer('Currently unavailable; try again.'),
    },
  };
}

/** The fragment of one service. */
export function openApiFragment(service: string, routes: Route[]): Pick<OpenApiDocument, 'paths'> {
  const paths: OpenApiDocument['paths'] = {};
  for (const declared of routes) {
    const path = `/api/v1${declared.path}`;
    paths[path] = { ...paths[path], [declared.method.toLowerCase()]: operation(declared, service) };
  }
  return { paths };
}

/** Merges the fragments into one document, with the paths in alphabetical order. */
export function mergeOpenApi(fragments: Pick<OpenApiDocument, 'paths'>[], serverUrl: string): OpenApiDocument {
  const merged: OpenApiDocument['paths'] = {};
  for (const fragment of fragments)
    for (const [path, operations] of Object.entries(fragment.paths)) merged[path] = { ...merged[path], ...operations };
  const paths = Object.fromEntries(Object.entries(merged).sort(([a], [b]) => (a < b ? -1 : 1)));
  const scopes = {
    api: 'Full access',
    'api:read': 'GET and HEAD',
    'api:write': 'POST, PATCH, PUT',
    'api:delete': 'DELETE',
    'api:admin': 'Administrative operations',
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Almanac REST API',
      version: 'v1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: [
        'Reference data management: typed tables, controlled change, one API.',
        'A body may be nested as shown (`{"domain": {"name": "x"}}`), flat (`{"name": "x"}`) or with bracket keys (`{"domain[name]": "x"}`).',
        'Collections take `page`, `per_page` (at most 1000), `q` (`field:operator:value`, repeatable, or a bare word) and `sort` (`field` or `-field`).',
        'Decimals and bigints are JSON numbers with all their digits. JSON.parse and most parsers read numbers into doubles and round those of more than 15 digits without telling: where an operation takes them, `exact_numbers=true` or the header `Exact-Numbers: true` makes strings of them.',
        'Operations marked `x-user-context` need a token of the authorization code flow.',
        'Every answer carries `X-Request-Id`; counted calls also `X-Allowance-Limit`, `X-Allowance-Remaining` and `X-Allowance-Reset`. GET answers HEAD too.',
      ].join('\n\n'),
    },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      schemas: {
        Error: errorSchema,
        Problem: problemSchema,
      },
      headers: {
        'Retry-After': {
          description: 'Seconds after which it is worth another try.',
          required: true,
          schema: { type: 'integer', minimum: 1 },
        },
      },
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          flows: {
            clientCredentials: { tokenUrl: '/oauth/token', scopes },
            authorizationCode: { authorizationUrl: '/oauth/authorize', tokenUrl: '/oauth/token', scopes },
          },
        },
      },
    },
  };
}
