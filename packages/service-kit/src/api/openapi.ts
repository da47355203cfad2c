// Builds the OpenAPI 3.1 document from the schemas of the routes. Each service serves its fragment,
// the gateway merges them.
import { z } from 'zod';
import { codesOfKinds, type ErrorKind, ServiceError } from '../errors.ts';
import { type Examples, withExamples } from '../openapi/examples.ts';
import { asNamed, asSchema, type Json, type NamedSchemas } from '../openapi/named-schemas.ts';
import { describePathParameter, operationIdOf, pascal } from '../openapi/operation-id.ts';
import type { Problem } from '../problems.ts';
import { errorProperties, errorSchema, problemSchema } from './error-schema.ts';
import { type Route, requiredScope } from './route.ts';

export type OpenApiFragment = {
  paths: Record<string, Record<string, Json>>;
  components?: { schemas: NamedSchemas };
};
export type OpenApiDocument = OpenApiFragment & { openapi: string; info: Json; components: Json } & Json;

/** A route with what names it in the document. */
type Declared = Route & { operationId: string };

/** An answer of the kind; the problem, or its sentence, is one that callers get. */
function errorAnswer(kind: ErrorKind, description: string, shown: Problem | string): Json {
  const problem = typeof shown === 'string' ? { code: codesOfKinds[kind], message: shown } : shown;
  const schema = { $ref: '#/components/schemas/Error' };
  const example = new ServiceError(kind, problem).body;
  return { description, content: { 'application/json': { schema, example } } };
}

const laterAnswer = (...given: Parameters<typeof errorAnswer>): Json => ({
  ...errorAnswer(...given),
  headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
});

function refusalAnswer({ refusal, operationId, attributes }: Declared, named: NamedSchemas): Json {
  const description = 'A rule is broken; every problem is listed.';
  const answer = attributes?.name
    ? errorAnswer('validation_failed', description, { code: 'blank', message: "Name can't be blank", field: 'name' })
    : errorAnswer('wrong_state', description, 'The state that it is in does not allow this.');
  if (!refusal) return answer;
  const more = asSchema(z.strictObject(refusal), 'output', named) as { properties: Json; required?: string[] };
  const shape = {
    ...more,
    required: [...errorSchema.required, ...(more.required ?? [])],
    properties: { ...errorProperties, ...more.properties },
  };
  const schema = asNamed(shape, `${pascal(operationId)}Refusal`, named);
  const { content } = answer as { content: { 'application/json': Json } };
  return { description, content: { 'application/json': { ...content['application/json'], schema } } };
}

function parameters(declared: Declared, named: NamedSchemas): Json[] {
  const of = (shape: z.ZodRawShape | undefined, where: 'path' | 'query') =>
    Object.entries(shape ?? {}).map(([name, schema]) => {
      const { description, ...json } = asSchema(schema as z.ZodType, 'input', named);
      const required = where === 'path' || !(schema as z.ZodType).safeParse(undefined).success;
      const style = json.type === 'object' ? { style: 'deepObject', explode: true } : {};
      const words = description ?? (where === 'path' ? describePathParameter(declared.path, name) : undefined);
      return { name, in: where, required, ...style, schema: json, ...(words ? { description: words } : {}) };
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

function requestBody(declared: Declared, named: NamedSchemas): Json | undefined {
  if (declared.raw)
    return {
      required: true,
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    };
  const shape = { ...(declared.body ?? {}), ...attributesOf(declared) };
  if (Object.keys(shape).length === 0) return undefined;
  const body = z.strictObject(shape);
  const required = declared.attributes !== undefined || !body.safeParse({}).success;
  const schema = asNamed(asSchema(body, 'input', named), requestNameOf(declared), named);
  const { example } = declared;
  return { required, content: { 'application/json': { schema, ...(example ? { example } : {}) } } };
}

// `sendDeploymentRequest` takes a `SendDeploymentRequest`.
const requestNameOf = ({ operationId }: Declared) => `${pascal(operationId).replace(/Request$/, '')}Request`;

// `NewDomain` creates a domain, `DomainChanges` changes one.
function attributesOf({ method, resource, attributes }: Declared): z.ZodRawShape {
  if (!attributes || !resource) return attributes ?? {};
  const name = method === 'POST' ? `New${pascal(resource)}` : `${pascal(resource)}Changes`;
  return { [resource]: z.strictObject(attributes).meta({ id: name }) };
}

function successAnswer(declared: Declared, named: NamedSchemas): Json {
  const description = declared.status === 204 ? 'Done.' : 'Success.';
  if (declared.produces) return { description, content: { [declared.produces]: { schema: { type: 'string' } } } };
  if (!declared.response) return { description };
  const name = `${pascal(declared.operationId)}Result`;
  const schema = asNamed(asSchema(declared.response, 'output', named), name, named);
  return { description, content: { 'application/json': { schema } } };
}

/** The words of the declaration, with what it demands of the caller. */
function describe({ description, user, branching }: Declared): string {
  return [
    description,
    ...(user
      ? ['**Needs a person**: a token of the authorization code flow. A token of client credentials is 401.']
      : []),
    ...(branching ? ['Needs a plan with branching; on others it is 403.'] : []),
  ].join('\n\n');
}

function operation(declared: Declared, service: string, named: NamedSchemas): Json {
  const { method, operationId, user } = declared;
  const body = requestBody(declared, named);
  const scopes = [requiredScope(declared)];
  return {
    operationId,
    tags: [declared.tag],
    summary: declared.summary,
    description: describe(declared),
    security: [...(user ? [] : [{ client_credentials: scopes }]), { authorization_code: scopes }],
    'x-service': service,
    ...(declared.extension ? { 'x-extension': true } : {}),
    ...(user ? { 'x-user-context': true } : {}),
    parameters: parameters(declared, named),
    ...(body ? { requestBody: body } : {}),
    responses: {
      [String(declared.status ?? 200)]: successAnswer(declared, named),
      ...(declared.mayCreate ? { '201': { ...successAnswer(declared, named), description: 'Created.' } } : {}),
      '400': errorAnswer(
        'bad_request',
        'Missing or invalid parameters.',
        body && !declared.raw ? 'The body must be a JSON object.' : 'The query is not valid UTF-8.',
      ),
      '401': errorAnswer(
        'unauthenticated',
        user ? 'Invalid or missing token, or a token without a person.' : 'Invalid or missing token.',
        'Invalid token',
      ),
      ...(method === 'GET'
        ? {}
        : { '402': errorAnswer('payment_overdue', 'Billing overdue; writes are blocked.', 'Payment is overdue.') }),
      '403': errorAnswer(
        'forbidden',
        'The scope or the right is missing.',
        `Insufficient scope. Required: ${requiredScope(declared)}`,
      ),
      '404': errorAnswer(
        'not_found',
        'No such resource in this account.',
        `${declared.tag.replace(/s$/, '')} not found`,
      ),
      ...(declared.query?.after
        ? {
            '410': errorAnswer(
              'expired',
              'The cursor is older than what is kept; the sentence says how to begin again.',
              'What changed is known since 2026-03-01T00:00:00.000Z only.',
            ),
          }
        : {}),
      ...(declared.requestHeaders?.['If-Match']
        ? {
            '412': errorAnswer(
              'precondition_failed',
              'Changed since: If-Match or If-None-Match does not match.',
              'The record has been changed since it was read (If-Match).',
            ),
          }
        : {}),
      ...(body
        ? {
            '413': errorAnswer('too_large', 'The body is larger than the limit.', 'The body is larger than the limit.'),
          }
        : {}),
      ...(body && !declared.raw
        ? {
            '415': errorAnswer(
              'unsupported_media_type',
              'The body is no application/json in UTF-8.',
              'Send the body as application/json in UTF-8.',
            ),
          }
        : {}),
      ...(method === 'GET' ? {} : { '422': refusalAnswer(declared, named) }),
      '429': laterAnswer(
        'allowance_exceeded',
        "The month's allowance is used up (`API allowance exceeded`), or the account makes too many calls at once or in ten seconds (`Too many requests`).",
        "This month's allowance of API calls is used up.",
      ),
      '500': errorAnswer(
        'internal',
        'Something failed on the side of the service.',
        'Something went wrong on our side. The request id helps us find it.',
      ),
      '503': laterAnswer(
        'unavailable',
        'Currently unavailable; try again.',
        'The service is not available; try again.',
      ),
    },
  };
}

const isList = ({ method, query }: Route) => method === 'GET' && query?.page !== undefined;

/** The fragment of one service; `more` describes what it serves beside declared routes. */
export function openApiFragment(
  service: string,
  routes: Route[],
  more: OpenApiFragment = { paths: {} },
): OpenApiFragment {
  const paths: OpenApiFragment['paths'] = {};
  const schemas: NamedSchemas = {};
  for (const route of routes) {
    const operationId = route.operationId ?? operationIdOf({ ...route, isList: isList(route) });
    const path = `/api/v1${route.path}`;
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operation({ ...route, operationId }, service, schemas),
    };
  }
  return { paths: { ...paths, ...more.paths }, components: { schemas: { ...schemas, ...more.components?.schemas } } };
}

const sorted = <T>(members: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));

const scopes = {
  api: 'Full access',
  'api:read': 'GET and HEAD',
  'api:write': 'POST, PATCH, PUT',
  'api:delete': 'DELETE',
  'api:admin': 'Administrative operations',
};

/**
 * Merges the fragments into one document, with paths and components in alphabetical order.
 * `examples` were recorded of calls.
 */
export function mergeOpenApi(fragments: OpenApiFragment[], serverUrl: string, examples: Examples): OpenApiDocument {
  const merged: OpenApiFragment['paths'] = {};
  for (const fragment of fragments)
    for (const [path, operations] of Object.entries(fragment.paths)) merged[path] = { ...merged[path], ...operations };
  const schemas: NamedSchemas = Object.assign({}, ...fragments.map(({ components }) => components?.schemas));
  const tokenUrl = `${serverUrl}/oauth/token`;
  const authorizationUrl = `${serverUrl}/oauth/authorize`;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Almanac REST API',
      version: 'v1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description,
    },
    servers: [{ url: serverUrl }],
    tags,
    paths: sorted(withExamples(merged, examples)),
    components: {
      schemas: sorted({ ...schemas, Error: errorSchema, Problem: problemSchema }),
      headers: {
        'Retry-After': {
          description: 'Seconds after which it is worth another try.',
          required: true,
          schema: { type: 'integer', minimum: 1 },
        },
      },
      securitySchemes: {
        client_credentials: {
          type: 'oauth2',
          description:
            'A machine: the client id and the secret of an OAuth application. What it does is not attributed to a person.',
          flows: { clientCredentials: { tokenUrl, scopes } },
        },
        authorization_code: {
          type: 'oauth2',
          description: 'A person, who signs in in the browser. What they may do is checked for each call.',
          flows: { authorizationCode: { authorizationUrl, tokenUrl, refreshUrl: tokenUrl, scopes } },
        },
        client: {
          type: 'http',
          scheme: 'basic',
          description: 'The client id and the secret of an OAuth application, for the endpoints of OAuth alone.',
        },
      },
    },
  };
}

const description = [
  'Reference data management: typed tables, controlled change, one API.',
  '**Tokens.** Every call under `/api/v1` carries `Authorization: Bearer <token>`, from `POST /oauth/token`. Most operations take the token of a machine (client credentials) or of a person (authorization code). Those marked "Needs a person" (`x-user-context`) take a person\'s alone, and list only `authorization_code` under `security`.',
  '**Bodies** are JSON: nested as shown (`{"domain": {"name": "x"}}`), flat (`{"name": "x"}`) or with bracket keys (`{"domain[name]": "x"}`).',
  '**Lists** take `page`, `per_page` (at most 1000), `q` (`field:operator:value`, repeatable, or a bare word) and `sort` (`field` or `-field`), and answer `data` with `meta`.',
  '**HEAD.** Every GET answers HEAD too: the same status and headers, without a body. It takes the same scope and counts as a call.',
  '**Long numbers.** Decimals and bigints are JSON numbers with all their digits. JSON.parse and most parsers read numbers into doubles and round those of more than 15 digits without telling: where an operation takes them, `exact_numbers=true` or the header `Exact-Numbers: true` makes strings of them.',
  '**Headers.** Every answer carries `X-Request-Id`; counted calls also `X-Allowance-Limit`, `X-Allowance-Remaining` and `X-Allowance-Reset`.',
  '**Extensions** of the contract are marked `x-extension`.',
].join('\n\n');

/** The sections of the document, in the order in which a newcomer needs them. */
const tags = Object.entries({
  Account: 'The account itself: plan, billing status, calls.',
  Domains: 'Subjects that tables belong to; rights can be given for a domain.',
  Branches: 'Places to change definitions and rows apart from what is in service on `main`.',
  'Table definitions': 'Drafts of tables. A draft is served once it is deployed.',
  'Column definitions': 'The columns of drafts.',
  'Deployed table definitions': 'Tables as they are in service.',
  'Table data': 'The rows of deployed tables.',
  Deployments: 'Bring drafts of a branch into service, under approval where the branch is protected.',
  Promotions: 'Merge definitions and rows of one branch into another.',
  'Change requests': 'Propose changes of rows, review them and apply them together.',
  Inbox: 'What waits for the calling user.',
  Search: 'Find things by a text, wherever they are.',
  Views: 'Ways to look at a table that are kept: filters, sorts and columns.',
  Imports: 'Load files into tables, in the background.',
  'Import mappings': 'How the columns of a file become those of a table.',
  Exports: 'Files with the rows of a table, made in the background.',
  Me: 'The calling person: rights, sessions, password, preferences.',
  People: 'Names of the people of the account, for everybody in it.',
  Users: 'The people of the account.',
  'User groups': 'Groups of people, which hold the rights.',
  'User group assignments': 'Who is in which group.',
  Permissions: 'The rights of all groups.',
  'OAuth applications': 'Programs that may ask for tokens, and their secrets.',
  Events: 'What happens in the account, page by page or live.',
  Webhooks: 'Addresses to which events are sent, and the deliveries to each.',
  'Audit log': 'Who did what.',
  OAuth: 'Tokens: RFC 6749 with PKCE (RFC 7636), revocation (RFC 7009), introspection (RFC 7662), metadata (RFC 8414).',
}).map(([name, description]) => ({ name, description }));
