// Serves the declared routes on an Express router. The steps of a call: signed context, body,
// parameters, handler, answer.
import type { IncomingMessage } from 'node:http';
import { type ParsedUrlQuery, parse as parseQuery } from 'node:querystring';
import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import getRawBody from 'raw-body';
import { z } from 'zod';
import {
  type CallContext,
  type ContextVerifier,
  contextHeader,
  requireBranching,
  requireUser,
} from '../caller/call-context.ts';
import { answerWithinHeader, readAnswerBy } from '../caller/deadline.ts';
import { keyedBy, readIdempotencyKey } from '../caller/idempotency.ts';
import { missingToken } from '../caller/unauthenticated.ts';
import { ServiceError } from '../errors.ts';
import { type Answering, sendError, sendJson, sendText } from '../http/answer.ts';
import { readClientAddress } from '../http/client-address.ts';
import { JsonText } from '../http/json-text.ts';
import { addressNotFound, apiPrefix, pathOf, readPath } from '../http/path.ts';
import { limits } from '../limits.ts';
import { type AuditAct, refusedAct } from '../messaging/audit.ts';
import type { Logger } from '../observability/logger.ts';
import { readAttributes, readParameters, splitBody } from './input.ts';
import { parseJsonBody } from './json-body.ts';
import type { Method, Route } from './route.ts';

export type ApiOptions = {
  routes: Route[];
  logger: Logger;
  verifyContext: ContextVerifier;
  /**
   * Records a call that was refused for a missing right (403) in the audit log, before the answer.
   */
  onRefused?: (call: CallContext, act: AuditAct) => Promise<void>;
};

/**
 * A router of these routes under `/api/v1`. It answers every path with that prefix, and leaves
 * others to the next handler. A fixed segment of a path wins over a `{parameter}` in its place.
 */
export function createApiRouter(options: ApiOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(passNormalPaths);
  const paths = new Set(options.routes.map(({ path }) => path));
  for (const path of [...paths].sort(byPlace)) {
    const place = `${apiPrefix}${path.replace(/\{(\w+)\}/g, ':$1')}`;
    const served = router.route(place);
    for (const declared of options.routes.filter((each) => each.path === path))
      served[declared.method.toLowerCase() as Lowercase<Method>](serve(declared, options));
    // The other methods, and paths below: a parameter of another route must not match a fixed
    // segment.
    router.use(place, refuse);
  }
  router.use(refuse, (error: unknown, _req: Request, res: Response, _next: NextFunction) =>
    sendError(res as Response & Answering, error, options.logger),
  );
  return router;
}

// Longer paths come before their prefixes, and fixed segments before parameters: `{` sorts after
// letters, digits and `_`, and `~` after `{`.
const byPlace = (one: string, other: string) => (`${one}~` < `${other}~` ? -1 : 1);

// Express accepts a whole URL as a path and any encoding in a parameter, and answers 400 when it
// can't decode one. Only paths in their normal spelling get that far.
const passNormalPaths: RequestHandler = (request, _res, next) => {
  const path = pathOf(request.url);
  if (!path.startsWith(`${apiPrefix}/`)) next('router');
  else if (readPath(path)) next();
  else throw addressNotFound();
};

const refuse: RequestHandler = () => {
  throw addressNotFound();
};

function serve(declared: Route, options: ApiOptions): RequestHandler {
  const route = { ...prepare(declared), ...declared };
  return async (request, res) => {
    res.locals.route = route.path;
    await answer(route, request, res as Response & Answering, options);
  };
}

function splitUrl(url: string): [path: string, query: string] {
  const mark = url.indexOf('?');
  return mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

type Prepared = ReturnType<typeof prepare>;

// The parts of a declaration that are the same for every call.
function prepare(declared: Route) {
  return {
    schemas: {
      params: z.strictObject(declared.params ?? {}),
      query: z.strictObject(declared.query ?? {}),
      body: z.strictObject(declared.body ?? {}),
      attributes: z.strictObject(declared.attributes ?? {}),
    },
    attributeNames: new Set(Object.keys(declared.attributes ?? {})),
    bodyNames: new Set(Object.keys(declared.body ?? {})),
    objectNames: new Set(
      Object.entries(declared.query ?? {}).flatMap(([name, schema]) => (schema instanceof z.ZodRecord ? [name] : [])),
    ),
    takesKey: declared.requestHeaders?.['Idempotency-Key'] !== undefined,
    hasForms: declared.requestHeaders?.['Exact-Numbers'] !== undefined,
  };
}

async function answer(route: Route & Prepared, request: Request, res: Answering, options: ApiOptions): Promise<void> {
  const [path, query] = splitUrl(request.url);
  const call = await readCall(route, request, res, (token, id) => options.verifyContext(token, id, 'http'));
  if (route.hasForms) res.setHeader('Vary', formHeader);
  const bytes = takesBody(route) ? await readBody(route, request) : undefined;
  const readers = bodyReaders(route, bytes);
  if (route.takesKey) readKey(call, route, request, bytes);
  let result: unknown;
  try {
    result = await route.handle({
      call,
      params: readParameters(route.schemas.params, request.params),
      query: readParameters(route.schemas.query, queryOf(query, route.objectNames)),
      ...readers,
      headers: request.headers,
      request,
      response: res,
    });
  } catch (error) {
    await recordRefusal(call, { method: route.method, path: path.slice(apiPrefix.length, 512) }, error, options);
    throw error;
  }
  // Answered already, or by a client that has left there is nothing to answer.
  if (res.headersSent || res.destroyed) return;
  const status = route.status ?? 200;
  if (status === 204) res.writeHead(204).end();
  else if (result instanceof JsonText) sendText(res, result.status ?? status, result.text);
  else sendJson(res, status, result);
}

async function readCall(
  route: Route,
  request: IncomingMessage,
  res: Answering,
  verify: ContextVerifier,
): Promise<CallContext> {
  const context = request.headers[contextHeader];
  if (typeof context !== 'string') throw missingToken();
  const call = await verify(context, res.locals.requestId);
  call.address = readClientAddress(request);
  call.answerBy = readAnswerBy(request.headers[answerWithinHeader]);
  res.locals.accountId = call.accountId;
  if (route.user) requireUser(call);
  if (route.branching) requireBranching(call);
  return call;
}

// Records the refusal for the audit log. When that fails, the answer is still the refusal.
async function recordRefusal(
  call: CallContext,
  attempt: { method: string; path: string },
  error: unknown,
  { onRefused, logger }: ApiOptions,
): Promise<void> {
  if (!onRefused || !(error instanceof ServiceError) || error.kind !== 'forbidden') return;
  await onRefused(call, refusedAct(attempt, error.errors)).catch((failure: unknown) =>
    logger.error({ err: failure, request_id: call.requestId }, 'a refusal could not be recorded'),
  );
}

/** Chooses between two forms of the same answer. */
const formHeader = 'Exact-Numbers';

// A GET route answers HEAD too, and never looks at a body.
const takesBody = ({ raw, method }: Route) => !raw && method !== 'GET';

async function readBody({ bodyLimit }: Route, request: IncomingMessage): Promise<Buffer | undefined> {
  const { headers } = request;
  const length = headers['content-length'];
  if (headers['transfer-encoding'] === undefined && Number(length ?? 0) === 0) return undefined;
  const type = String(headers['content-type'] ?? '').toLowerCase();
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/.test(type))
    throw new ServiceError('unsupported_media_type', {
      code: 'unsupported_media_type',
      message: 'Send the body as application/json in UTF-8.',
    });
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', {
      code: 'unsupported_media_type',
      message: 'Send the body uncompressed.',
    });
  try {
    return await getRawBody(request, { length, limit: bodyLimit ?? limits.jsonBodyBytes });
  } catch (cause) {
    request.resume(); // the rest of the body must not be read as the next request
    if ((cause as { status?: number }).status === 413)
      throw new ServiceError(
        'too_large',
        { code: 'too_large', message: 'The body is larger than the limit.' },
        { cause },
      );
    throw new ServiceError('bad_request', { code: 'malformed', message: 'The request could not be read.' }, { cause });
  }
}

// Two requests are the same when address, body and requested form of the answer are.
function readKey(call: CallContext, { hasForms }: Prepared, request: IncomingMessage, bytes: Buffer | undefined): void {
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  const { method = '', url = '' } = request;
  if (key === undefined) return;
  const form = hasForms && request.headers[formHeader.toLowerCase()] === 'true' ? [formHeader] : [];
  call.keyed = keyedBy(call, key, method, url, bytes?.toString('utf8') ?? '', ...form);
}

// Refuses what is no text here: a database would refuse it later, or search for another text.
function queryOf(query: string, objectNames: ReadonlySet<string>): Record<string, unknown> {
  if (query === '') return {};
  // Without maxKeys, parameters after the first thousand would be ignored. The URL's size is
  // bounded.
  const given = { ...parseQuery(query, undefined, undefined, { maxKeys: 0 }) };
  if (query.includes('%')) refuseWrongText(given, query);
  return objectNames.size === 0 ? given : foldObjects(given, objectNames);
}

function refuseWrongText(given: ParsedUrlQuery, query: string): void {
  for (const [name, value] of Object.entries(given)) {
    const text = [name, value].flat().join('');
    if (text.includes('\u0000'))
      throw new ServiceError('bad_request', {
        code: 'malformed',
        message: 'The query holds U+0000, which no text may hold.',
      });
    if (text.includes('\ufffd') && !/%EF%BF%BD/i.test(query))
      throw new ServiceError('bad_request', { code: 'malformed', message: 'The query is not valid UTF-8.' });
  }
}

// `key[code]=CH&key[year]=2026` is one parameter, as `deepObject` of OpenAPI says.
function foldObjects(given: ParsedUrlQuery, objectNames: ReadonlySet<string>): Record<string, unknown> {
  const folded: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const end = name.indexOf('[');
    const outer = name.slice(0, Math.max(end, 0));
    if (!objectNames.has(outer) || !name.endsWith(']') || outer in given) folded[name] = value;
    else {
      folded[outer] ??= Object.create(null);
      (folded[outer] as Record<string, unknown>)[name.slice(end + 1, -1)] = value;
    }
  }
  return folded;
}

// Lazy, so that 404 and 403 come before 400 and 422. Only invalid JSON is refused at once.
function bodyReaders(route: Route & Prepared, bytes: Buffer | undefined) {
  const { schemas, attributeNames, bodyNames } = route;
  const json = bytes === undefined || bytes.length === 0 ? {} : parseJsonBody(bytes);
  let parts: ReturnType<typeof splitBody> | undefined;
  const split = () => {
    parts ??= splitBody(json, route.resource, attributeNames, bodyNames);
    return parts;
  };
  return {
    body: () => {
      const read = readParameters(schemas.body, split().rest);
      // Without attributes, this is the only check of what is left under the resource's key.
      if (attributeNames.size === 0) readParameters(schemas.attributes, split().own);
      return read;
    },
    attributes: () => {
      if (bytes === undefined || bytes.length === 0)
        throw new ServiceError('bad_request', {
          code: 'blank',
          message: 'The body is missing; send the attributes as JSON.',
        });
      readParameters(schemas.body, split().rest);
      return readAttributes(schemas.attributes, split().own);
    },
  };
}
