// The declaration of an endpoint: method, path, required scope, input and answer. One declaration
// checks the requests and makes the OpenAPI document, so the two can't drift.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { CallContext } from '../caller/call-context.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

type Shape = z.ZodRawShape;
type Read<T extends Shape | undefined> = T extends Shape ? z.output<z.ZodObject<T>> : Record<string, never>;

/**
 * A handler's input. `body()` and `attributes()` read lazily: 404 and 403 come before 400 and 422.
 */
export type RouteInput<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  A extends Shape | undefined,
> = {
  call: CallContext;
  params: Read<P>;
  query: Read<Q>;
  body: () => Read<B>;
  attributes: () => Read<A>;
  headers: IncomingMessage['headers'];
  request: IncomingMessage;
  response: ServerResponse;
};

export type RouteDeclaration<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  A extends Shape | undefined,
> = {
  method: Method;
  /** Below /api/v1, with `{id}` parameters. */
  path: string;
  tag: string;
  /** The name of the operation in generated code, where method and path don't give a good one. */
  operationId?: string;
  summary: string;
  /** What a caller must know beyond the summary. */
  description: string;
  /** Required instead of the method's scope. */
  scope?: 'api:admin';
  /** Needs a user context (401 for machines). */
  user?: boolean;
  /** Needs a plan with branching (403 elsewhere). */
  branching?: boolean;
  params?: P;
  query?: Q;
  /** Parameters of the body: missing or wrong is 400. */
  body?: B;
  /** Attributes of the resource, nested under `resource` or flat: broken rules are 422. */
  attributes?: A;
  /** The key under which attributes may be nested, e.g. `domain`. */
  resource?: string;
  /** A body that works, with ids that stand for others; tests/contract sends it. */
  example?: Record<string, unknown>;
  /** Raw: the handler reads the request's bytes itself (an upload). */
  raw?: boolean;
  bodyLimit?: number;
  status?: 200 | 201 | 204;
  /** Answers 201 instead, with the same schema, when the call has created the resource. */
  mayCreate?: boolean;
  /** Request headers the handler understands, for the document: name to description. */
  requestHeaders?: {
    'If-Match'?: string;
    'If-None-Match'?: string;
    'Idempotency-Key'?: string;
    'Exact-Numbers'?: string;
    'Last-Event-ID'?: string;
  };
  response?: z.ZodType;
  /** The answer is no JSON: the handler writes it to `response` itself. */
  produces?: 'text/csv' | 'text/event-stream';
  /** What a 422 of this route may show besides the problems: the `facts` of its errors. */
  refusal?: z.ZodRawShape;
  /** An extension to the contract. */
  extension?: boolean;
  handle: (input: RouteInput<P, Q, B, A>) => Promise<unknown>;
};

/** A route without its type parameters, for servers and the OpenAPI document. */
// biome-ignore lint/suspicious/noExplicitAny: the declaration above has checked the handler against its own schemas.
export type Route = RouteDeclaration<any, any, any, any>;

/** Declares an endpoint. Returns its argument: the function exists for type inference. */
export function route<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  A extends Shape | undefined = undefined,
>(declaration: RouteDeclaration<P, Q, B, A>): Route {
  return declaration;
}

/** The scope a route needs: its own, or the method's (contract, Scopes). */
export function requiredScope(declared: Pick<Route, 'method' | 'scope'>): string {
  if (declared.scope) return declared.scope;
  if (declared.method === 'GET') return 'api:read';
  return declared.method === 'DELETE' ? 'api:delete' : 'api:write';
}
