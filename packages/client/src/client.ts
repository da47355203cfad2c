// A client of Almanac's REST API. Paths, parameters, bodies and answers are typed by the OpenAPI
// document of this version.
import createFetchClient from 'openapi-fetch';
import type { Call, Init, Item, ListPath } from './calls.ts';
import { AlmanacError } from './errors.ts';
import { createFeeds, type Feeds } from './feeds.ts';
import { exactPaths } from './generated/exact-paths.ts';
import { keyedPaths } from './generated/keyed-paths.ts';
import type { components, paths } from './generated/schema.ts';
import { type Grid, listItems, listRows } from './pages.ts';
import type { Row, SystemColumns } from './records.ts';
import { createSend, type Send } from './sending.ts';
import { type Credentials, credentialTokens, givenTokens, type TokenSource } from './tokens.ts';
import { createTransfers, type Transfers } from './transfers.ts';

export type { Answer, Item, ListPath } from './calls.ts';
export { AlmanacError, type Problem } from './errors.ts';
export type {
  Change,
  ChangePage,
  ChangesOf,
  Event,
  EventPage,
  EventsOf,
  FeedOptions,
  FeedPage,
  Feeds,
} from './feeds.ts';
export type { ProblemCode } from './generated/problem-codes.ts';
export type { paths } from './generated/schema.ts';
export type { Grid } from './pages.ts';
export type { ColumnValues, Row, RowOf, SystemColumns } from './records.ts';
export type { Credentials } from './tokens.ts';
export type { Export, FileContent, Import, NewExport, NewImport, Transfers } from './transfers.ts';
export type { WaitOptions } from './waiting.ts';
export { verifyWebhook, type WebhookHeaders, WebhookVerificationError } from './webhooks.ts';

/** The types of the API by their names in its document: `Schemas['Domain']`. */
export type Schemas = components['schemas'];

export type ClientOptions = {
  /** Where the system answers, e.g. `https://almanac.example.com`; without `/api/v1`. */
  baseUrl: string;
  /**
   * How often a repeatable call is retried without an answer or after 429, 502, 503 or 504; default
   * 3.
   */
  retries?: number;
  /** A call whose `Retry-After` is longer fails at once; default 30 seconds. */
  longestRetryAfter?: number;
  /** The time-out of one attempt; default 120,000 ms. */
  timeoutMs?: number;
  /** The fetch to use; default the platform's. */
  fetch?: typeof globalThis.fetch;
} & (
  | Credentials
  /**
   * A token, or a function that returns a valid one: called for each call, and again after a 401.
   */
  | { token: Given }
  /** Headers of each call, in a browser whose session the server at `baseUrl` knows by a cookie. */
  | { headers: Record<string, string> }
);

type Work = Transfers & Feeds;

export type Client = Work & {
  get: Call<'get'>;
  /**
   * Generates an Idempotency-Key where the API takes one, for retries; yours is in `params.header`.
   */
  post: Call<'post'>;
  patch: Call<'patch'>;
  put: Call<'put'>;
  delete: Call<'delete'>;
  /**
   * The items of a list, page after page; each page is a call. Defaults: `per_page` 1,000, `page`
   * 1.
   */
  list<P extends ListPath>(path: P, ...init: Init<P, 'get'>): AsyncGenerator<Item<P>, void, undefined>;
  /** The rows of a grid query in its order, a thousand a call. `RowOf` types the columns. */
  rows<R extends SystemColumns = Row>(
    grid: Grid,
    options?: { signal?: AbortSignal },
  ): AsyncGenerator<R, void, undefined>;
};

/**
 * A client for the system at `baseUrl`, with client credentials, with tokens of your own or with
 * the session of a browser. Nothing is sent before the first call. Every call takes a `signal`, and
 * throws an AlmanacError for an answer that is no success. Decimals and bigints of rows are strings
 * (`ColumnValues`): the client sends `Exact-Numbers` where a call takes it and doesn't set it.
 */
export function createClient(options: ClientOptions): Client {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const { retries = 3, longestRetryAfter = 30, timeoutMs = 120_000 } = options;
  // Called as a plain function: a browser's fetch fails as a method of another object.
  const { fetch = globalThis.fetch } = options;
  const send = createSend({ fetch: (...args) => fetch(...args), retries, longestRetryAfter, timeoutMs });
  const sendCall =
    'headers' in options ? withHeaders(options.headers, send) : withToken(tokensOf(options, baseUrl, send), send);
  const http = createFetchClient<paths>({
    baseUrl: `${baseUrl}/api/v1`,
    headers: { Accept: 'application/json' },
    fetch: sendCall,
  });
  http.use({
    onRequest: ({ request, schemaPath }) => {
      if (request.method === 'POST' && keyedPaths.has(schemaPath) && !request.headers.has(keyHeader))
        request.headers.set(keyHeader, crypto.randomUUID());
      if (exactPaths.has(schemaPath) && !saysHowExact(request)) request.headers.set(exactHeader, 'true');
    },
  });

  // The declared types check the calls; inside, a path is any text.
  const call = (method: Uppercase<Method>) => async (path: string, init?: object) => {
    const { data, error, response } = await (http[method] as Plain)(path, init);
    if (!response.ok) throw new AlmanacError(`${method} ${path}`, response, error);
    return data;
  };
  const calls = {
    get: call('GET') as Call<'get'>,
    post: call('POST') as Call<'post'>,
    patch: call('PATCH') as Call<'patch'>,
    put: call('PUT') as Call<'put'>,
    delete: call('DELETE') as Call<'delete'>,
  };
  return {
    ...calls,
    list: ((path: string, init?: object) => listItems(calls.get as never, path, init)) as Client['list'],
    rows: ((grid, { signal } = {}) => listRows(calls.post, grid, signal)) as Client['rows'],
    ...createTransfers(calls, send),
    ...createFeeds(calls),
  };
}

type Given = string | (() => string | Promise<string>);
type SendCall = (request: Request) => Promise<Response>;
type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';
type Plain = (path: string, init?: object) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

const keyHeader = 'Idempotency-Key';
const exactHeader = 'Exact-Numbers';
const saysHowExact = ({ headers, url }: Request) =>
  headers.has(exactHeader) || new URL(url).searchParams.has('exact_numbers');
const idempotent = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

// These only read, though by POST.
const readingPaths = ['grid', 'values', 'position', 'groups'].map((name) => `/table_data/${name}`);
const isRepeatable = ({ method, headers, url }: Request) =>
  idempotent.has(method) || headers.has(keyHeader) || readingPaths.some((path) => new URL(url).pathname.endsWith(path));

function tokensOf(options: Credentials | { token: Given }, baseUrl: string, send: Send): TokenSource {
  return 'token' in options ? givenTokens(options.token) : credentialTokens(baseUrl, options, send);
}

function withHeaders(headers: Record<string, string>, send: Send): SendCall {
  return (request) => {
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    return send(request, isRepeatable(request));
  };
}

// Replaces a refused token once (it may have been revoked). A refused call had no effect, so any
// call may be repeated.
function withToken(tokens: TokenSource, send: Send): SendCall {
  return async (request) => {
    const repeatable = isRepeatable(request);
    const token = await tokens.get(request.signal);
    request.headers.set('Authorization', `Bearer ${token}`);
    const response = await send(request, repeatable);
    if (response.status !== 401 || !tokens.refused(token)) return response;
    await response.body?.cancel();
    request.headers.set('Authorization', `Bearer ${await tokens.get(request.signal)}`);
    return send(request, repeatable);
  };
}
