// Serves the declared routes on an Express router, each call step by step: signed context, body,
// parameters, handler, answer.
import type { IncomingMessage } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
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
import { addressNotFound, apiPrefix, pathOf, readPath } from '../http/path.ts';
import { limits } from '../limits.ts';
import { type AuditAct, refusedAct } from '../messaging/audit.ts';
import type { Logger } from '../observability/logger.ts';
import { readAttributes, readParameters, splitBody } from './input.ts';
import { parseJsonBody } from './json-body.ts';
import { JsonText, type Method, type Route } from './route.ts';

export type ApiOptions = {
  routes: Route[];
  logger: Logger;
  verifyContext: ContextVerifier;
  /** Told of each call that a right was missing for (403), before it is answered: it belongs in the audit log. */
  onRefused?: (call: CallContext, act: AuditAct) => Promise<void>;
};

/**
 * A router of these routes under `/api/v1`: whatever has that prefix is answered here, the rest is
 * left to the next handler. A fixed word in a path wins over a `{parameter}` in its place.
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
    // The other methods, and paths below: a parameter of another route must not take a fixed word.
    router.use(place, refuse);
  }
  router.use(refuse, (error: unknown, _req: Request, res: Response, _next: NextFunction) =>
    sendError(res as Response & Answering, error, options.logger),
  );
  return router;
}

// A path comes behind those that begin with it, and one with a parameter behind one with a fixed word
// in its place: `{` sorts behind letters, digits and `_`, and `~` behind `{`.
const byPlace = (one: string, other: string) => (`${one}~` < `${other}~` ? -1 : 1);

// Express would take a whole URL for its path and any encoding within a parameter, and answer 400 for
// one that it can't decode; only normal paths get that far.
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

// What of a declaration is the same for every call.
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
  if (route.takesKey) noteKey(call, route, request, bytes);
  let result: unknown;
  try {
    result = await route.handle({
      call,
      params: readParameters(route.schemas.params, request.params),
      query: readParameters(route.schemas.query, queryOf(query)),
      ...readers,
      headers: request.headers,
      request,
      response: res,
    });
  } catch (error) {
    await noteRefusal(call, { method: route.method, path: path.slice(apiPrefix.length, 512) }, error, options);
    throw error;
  }
  if (res.headersSent) return;
  const status = route.status ?? 200;
  if (status === 204) res.writeHead(204).end();
  else if (result instanceof JsonText) sendText(res, status, result.text);
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

// Whoever tries what he may not is written down; that this fails must not turn a refusal into something else.
async function noteRefusal(
  call: CallContext,
  attempt: { method: string; path: string },
  error: unknown,
  { onRefused, logger }: ApiOptions,
): Promise<void> {
  if (!onRefused || !(error instanceof ServiceError) || error.kind !== 'forbidden') return;
  await onRefused(call, refusedAct(attempt, error.errors)).catch((failure: unknown) =>
    logger.error({ err: failure, request_id: call.requestId }, 'a refusal could not be noted'),
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
    throw new ServiceError('unsupported_media_type', 'Send the body as application/json in UTF-8.');
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', 'Send the body uncompressed.');
  try {
    return await getRawBody(request, { length, limit: bodyLimit ?? limits.jsonBodyBytes });
  } catch (cause) {
    request.resume(); // what is still to come is nobody's next request
    if ((cause as { status?: number }).status === 413)
      throw new ServiceError('too_large', 'The body is larger than the limit.', { cause });
    throw new ServiceError('bad_request', 'The request could not be read.', { cause });
  }
}

// Its address, its bytes and the form of the answer that it asks for are all that makes another request of it.
function noteKey(call: CallContext, { hasForms }: Prepared, request: IncomingMessage, bytes: Buffer | undefined): void {
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  const { method = '', url = '' } = request;
  if (key === undefined) return;
  const form = hasForms && request.headers[formHeader.toLowerCase()] === 'true' ? [formHeader] : [];
  call.keyed = keyedBy(call, key, method, url, bytes?.toString('utf8') ?? '', ...form);
}

// What can't be text is refused here rather than by a database, or found as another text than the one that was sent.
function queryOf(query: string): Record<string, unknown> {
  if (query === '') return {};
  // The address is bounded; a parameter behind the first thousand would be as if it were not there.
  const given = { ...parseQuery(query, undefined, undefined, { maxKeys: 0 }) };
  if (!query.includes('%')) return given;
  for (const [name, value] of Object.entries(given)) {
    const text = [name, value].flat().join('');
    if (text.includes('\u0000'))
      throw new ServiceError('bad_request', 'The query holds U+0000, which no text may hold.');
    if (text.includes('\ufffd') && !/%EF%BF%BD/i.test(query))
      throw new ServiceError('bad_request', 'The query is not valid UTF-8.');
  }
  return given;
}

// Read on demand, so that 404 and 403 come before 400 and 422; only what is no JSON is told at once.
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
      // Without attributes nobody else looks at what is left under the resource's key.
      if (attributeNames.size === 0) readParameters(schemas.attributes, split().own);
      return read;
    },
    attributes: () => {
      if (bytes === undefined || bytes.length === 0)
        throw new ServiceError('bad_request', 'The body is missing; send the attributes as JSON.');
      readParameters(schemas.body, split().rest);
      return readAttributes(schemas.attributes, split().own);
    },
  };
}
