// A client of Almanac's REST API. Paths, parameters, bodies and answers are typed by the OpenAPI document of this version.
import createFetchClient from 'openapi-fetch';
import type { Call, Init, Item, ListPath } from './calls.ts';
import { AlmanacError } from './errors.ts';
import { exactPaths } from './generated/exact-paths.ts';
import { keyedPaths } from './generated/keyed-paths.ts';
import type { paths } from './generated/schema.ts';
import { type Grid, listItems, listRows } from './pages.ts';
import type { Row, SystemColumns } from './records.ts';
import { createSend, type Send } from './sending.ts';
import { type Credentials, credentialTokens, givenTokens, type TokenSource } from './tokens.ts';
import { createTransfers, type Transfers } from './transfers.ts';

export type { Answer, Item, ListPath } from './calls.ts';
export { AlmanacError } from './errors.ts';
export type { paths } from './generated/schema.ts';
export type { Grid } from './pages.ts';
export type { WaitOptions } from './patience.ts';
export type { ColumnValues, Row, RowOf, SystemColumns } from './records.ts';
export type { Credentials } from './tokens.ts';
export type { Export, FileContent, Import, NewExport, NewImport, Transfers } from './transfers.ts';

export type ClientOptions = {
  /** Where the system answers, e.g. `https://almanac.example.com`; without `/api/v1`. */
  baseUrl: string;
  /** How often a call that may be repeated is repeated when there was no answer, or 429, 502, 503 or 504. 3 unless told. */
  retries?: number;
  /** Calls that should come back later than this (Retry-After) fail at once; 30 seconds unless told. */
  longestRetryAfter?: number;
  /** How long one attempt may take; 120,000 ms unless told. */
  timeoutMs?: number;
  /** What fetches; the platform's own unless told. */
  fetch?: typeof globalThis.fetch;
} & (
  | Credentials
  /** A token, or what answers one that holds: asked for at each call, and once more when the system refused the last one. */
  | { token: string | (() => string | Promise<string>) }
);

export type Client = Transfers & {
  get: Call<'get'>;
  /** Where the API takes an Idempotency-Key one is made, so that the call can be repeated; give your own in `params.header`. */
  post: Call<'post'>;
  patch: Call<'patch'>;
  put: Call<'put'>;
  delete: Call<'delete'>;
  /** The items of a list, page after page (`per_page` 1,000 unless told); each page is a call. Begins at `page`, 1 unless told. */
  list<P extends ListPath>(path: P, ...init: Init<P, 'get'>): AsyncGenerator<Item<P>, void, undefined>;
  /** The rows that a grid query finds, in its order, a thousand a call; say of which columns with `RowOf`. */
  rows<R extends SystemColumns = Row>(
    grid: Grid,
    options?: { signal?: AbortSignal },
  ): AsyncGenerator<R, void, undefined>;
};

/**
 * A client for the system at `baseUrl`, with client credentials or with tokens of your own. Nothing is sent before the first call.
 * Every call takes a `signal`; every answer that is no success throws an AlmanacError. Decimals and bigints of rows are strings,
 * as `ColumnValues` says: where a call takes `Exact-Numbers` it is sent, unless the call says something else itself.
 */
export function createClient(options: ClientOptions): Client {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const { retries = 3, longestRetryAfter = 30, timeoutMs = 120_000 } = options;
  // Called as a plain function: a browser's fetch refuses to be a method of something else.
  const { fetch = globalThis.fetch } = options;
  const send = createSend({ fetch: (...words) => fetch(...words), retries, longestRetryAfter, timeoutMs });
  const tokens = 'token' in options ? givenTokens(options.token) : credentialTokens(baseUrl, options, send);
  const http = createFetchClient<paths>({
    baseUrl: `${baseUrl}/api/v1`,
    headers: { Accept: 'application/json' },
    fetch: (request) => sendWithToken(request, tokens, send),
  });
  http.use({
    onRequest: ({ request, schemaPath }) => {
      if (request.method === 'POST' && keyedPaths.has(schemaPath) && !request.headers.has(keyHeader))
        request.headers.set(keyHeader, crypto.randomUUID());
      if (exactPaths.has(schemaPath) && !saysHowExact(request)) request.headers.set(exactHeader, 'true');
    },
  });

  // The checks are those of the declared types; inside, a path is a text like any other.
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
  };
}

type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';
type Plain = (path: string, init?: object) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

const keyHeader = 'Idempotency-Key';
const exactHeader = 'Exact-Numbers';
const saysHowExact = ({ headers, url }: Request) =>
  headers.has(exactHeader) || new URL(url).searchParams.has('exact_numbers');
const idempotent = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

// A grid query only reads, though by POST.
const isRepeatable = ({ method, headers, url }: Request) =>
  idempotent.has(method) || headers.has(keyHeader) || new URL(url).pathname.endsWith('/table_data/grid');

// A token that was refused, revoked before its time perhaps, is replaced once; a refused call was not done, so any may be repeated.
async function sendWithToken(request: Request, tokens: TokenSource, send: Send): Promise<Response> {
  const repeatable = isRepeatable(request);
  const token = await tokens.get(request.signal);
  request.headers.set('Authorization', `Bearer ${token}`);
  const response = await send(request, repeatable);
  if (response.status !== 401 || !tokens.refused(token)) return response;
  await response.body?.cancel();
  request.headers.set('Authorization', `Bearer ${await tokens.get(request.signal)}`);
  return send(request, repeatable);
}
