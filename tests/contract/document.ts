// The system's own OpenAPI document, and a client that checks every answer against it.
import type { Answer, Api } from '@almanac/api-client/api';
import { refusalFault } from '@almanac/testkit/calls/refusal';
import { baseUrl } from '@almanac/testkit/system/builders';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** By media type; one each. */
type Content = Record<string, { schema: object; example?: unknown }>;

export type Operation = {
  operationId: string;
  summary: string;
  /** The last way is the authorization code flow, which every operation takes. */
  security: { authorization_code: string[] }[];
  'x-extension'?: boolean;
  parameters: { name: string; in: string; required: boolean }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};

export type ApiDocument = {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

export const methods = ['get', 'post', 'patch', 'put', 'delete'];

/** Reads the document from the gateway. */
export async function readDocument(): Promise<ApiDocument> {
  const answer = await fetch(`${baseUrl()}/openapi.json`);
  if (!answer.ok) throw new Error(`GET /openapi.json answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as ApiDocument;
}

/** The paths below /api/v1; the others are of OAuth. */
export const apiPaths = ({ paths }: ApiDocument): ApiDocument['paths'] =>
  Object.fromEntries(Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/')));

/** All operations as "METHOD /path" below /api/v1. */
export function listOperations(document: ApiDocument): string[] {
  return Object.entries(apiPaths(document)).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => methods.includes(method))
      .map((method) => `${method.toUpperCase()} ${path.replace(/^\/api\/v1/, '').replace(/\{\w+\}/g, '{id}')}`),
  );
}

/**
 * Wraps a client: an answer that the document doesn't describe throws, with operation, status and
 * difference.
 */
export function holdingTo(document: ApiDocument, api: Api): Api & { seen: Set<string> } {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (formats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'document', components: document.components });
  const validators = new Map<string, ValidateFunction>();
  const seen = new Set<string>();
  const check = (method: string, path: string, answer: Answer) => {
    const found = findOperation(document, method, path);
    if (!found) throw new Error(`${method} ${path} is not in the document`);
    const described = found.operation.responses[String(answer.status)];
    const name = `${found.operation.operationId} ${answer.status}`;
    if (!described) throw new Error(`${name} is not described; it answered ${JSON.stringify(answer.body)}`);
    seen.add(found.operation.operationId);
    const schema = Object.values(described.content ?? {})[0]?.schema;
    if (!schema) {
      if (answer.body !== undefined)
        throw new Error(`${name} should have no body, but has ${JSON.stringify(answer.body)}`);
      return;
    }
    const resolved = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'),
    ) as object;
    const validate = validators.get(name) ?? ajv.compile(resolved);
    validators.set(name, validate);
    const fault = answer.status >= 400 ? refusalFault(answer.body) : undefined;
    if (fault !== undefined) throw new Error(`${name}: ${fault} in ${JSON.stringify(answer.body).slice(0, 1_500)}`);
    if (!validate(answer.body))
      throw new Error(`${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(answer.body).slice(0, 1_500)}`);
  };
  const send = async (method: string, path: string, body?: unknown, options?: Parameters<Api['send']>[3]) => {
    const answer = await api.send(method, path, body, options);
    check(method, path, answer);
    return answer;
  };
  const expectOk = async (method: string, path: string, body?: unknown) => {
    const answer = await send(method, path, body);
    if (answer.status > 299)
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    ...api,
    seen,
    send: send as Api['send'],
    get: ((path: string) => expectOk('GET', path)) as Api['get'],
    post: ((path: string, body: unknown) => expectOk('POST', path, body ?? {})) as Api['post'],
    patch: ((path: string, body: unknown) => expectOk('PATCH', path, body)) as Api['patch'],
    delete: async (path) => {
      await expectOk('DELETE', path);
    },
  };
}

function findOperation(document: ApiDocument, method: string, target: string): { operation: Operation } | undefined {
  const [path = ''] = target.split('?');
  // Fixed segments win over parameters, as in /branches/set_current_branch.
  const candidates = Object.entries(document.paths)
    .filter(([pattern, operations]) => matches(pattern, `/api/v1${path}`) && operations[method.toLowerCase()])
    .toSorted(([a], [b]) => a.split('{').length - b.split('{').length);
  const operation = candidates[0]?.[1][method.toLowerCase()];
  return operation ? { operation } : undefined;
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, place) => part.startsWith('{') || part === given[place]);
}
