// The client when calls fail, against a server with scripted answers. Its calls of the real system:
// does against the real system: tests/acceptance/client.test.ts.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  AlmanacError,
  type ClientOptions,
  createClient,
  type Grid,
  type Problem,
  type Schemas,
} from '../src/client.ts';

type Seen = {
  method: string;
  url: string;
  authorization?: string;
  key?: string;
  exact?: string;
  console?: string;
  body: string;
};
type Answer = { status?: number; body?: unknown; headers?: Record<string, string> } | 'hang' | 'hang up';

let server: Server;
let baseUrl: string;
let seen: Seen[];
/** Answers to the API's calls, one after the other; the last one stays. */
let answers: Answer[];
let tokens: number;
let expires: number;
let tokenAnswer: (() => Answer) | undefined;

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  let body = '';
  for await (const part of req) body += part;
  if (req.url === '/oauth/token') {
    tokens += 1;
    const token = { access_token: `token-${tokens}`, token_type: 'Bearer', expires_in: expires };
    return send(req, res, tokenAnswer?.() ?? { body: token });
  }
  seen.push({
    method: req.method ?? '',
    url: req.url ?? '',
    authorization: req.headers.authorization,
    key: req.headers['idempotency-key'] as string | undefined,
    exact: req.headers['exact-numbers'] as string | undefined,
    console: req.headers['x-almanac-console'] as string | undefined,
    body,
  });
  send(req, res, (answers.length > 1 ? answers.shift() : answers[0]) as Answer);
}

function send(req: IncomingMessage, res: ServerResponse, scripted: Answer): void {
  if (scripted === 'hang') return;
  if (scripted === 'hang up') return void req.socket.destroy();
  const { status = 200, body, headers = {} } = scripted;
  res.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'request-1', ...headers });
  res.end(body === undefined ? undefined : JSON.stringify(body));
}

const problems: Problem[] = [
  { code: 'too_long', message: 'Line one.', column: 'code', params: { maximum: 2 } },
  { code: 'of_a_later_release', message: 'Line two.' },
];
const failure = (status: number, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: { error: 'Refused', errors: ['Line one.', 'Line two.'], problems },
});
const domain = { id: 3, name: 'Geography' };
const page = (ids: number[], number: number, pages: number): Answer => ({
  body: { data: ids.map((id) => ({ id })), meta: { page: number, per_page: 2, total_count: 5, total_pages: pages } },
});

const client = (more: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl, clientId: 'id', clientSecret: 'secret', ...more } as ClientOptions);
const createDomain = (of: ReturnType<typeof client>) =>
  of.post('/domains', { body: { domain: { name: 'Geography' } } });
const showDomain = (of: ReturnType<typeof client>, signal?: AbortSignal, id = 3) =>
  of.get('/domains/{id}', { params: { path: { id } }, ...(signal ? { signal } : {}) });

beforeAll(async () => {
  server = createServer((req, res) => void answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

beforeEach(() => {
  seen = [];
  answers = [{ body: domain }];
  tokens = 0;
  expires = 7200;
  tokenAnswer = undefined;
});

describe('tokens', () => {
  it('are asked for once by many calls at the same time, and kept', async () => {
    const almanac = client();
    await Promise.all(Array.from({ length: 20 }, () => showDomain(almanac)));
    await showDomain(almanac);
    expect(tokens).toBe(1);
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer token-1']));
  });

  it('are renewed before they expire', async () => {
    const almanac = client();
    expires = 0;
    await showDomain(almanac);
    await showDomain(almanac);
    expect(tokens).toBe(2);
  });

  it('that were refused are replaced once, and the call is made again, whatever its method', async () => {
    const almanac = client();
    answers = [failure(401), { status: 201, body: domain }];
    expect(await createDomain(almanac)).toEqual(domain);
    expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
    answers = [failure(401)];
    await expect(showDomain(almanac)).rejects.toMatchObject({ status: 401 });
    expect(tokens).toBe(3);
    expect(seen).toHaveLength(4);
  });

  it('of the caller are asked for again when one was refused; a fixed one is not tried twice', async () => {
    let asked = 0;
    answers = [failure(401), { body: domain }];
    await showDomain(client({ token: async () => `own-${++asked}` } as Partial<ClientOptions>));
    expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer own-1', 'Bearer own-2']);
    answers = [failure(401)];
    await expect(showDomain(client({ token: 'fixed' } as Partial<ClientOptions>))).rejects.toMatchObject({
      status: 401,
    });
    expect(seen).toHaveLength(3);
    expect(tokens).toBe(0);
  });

  it('are not needed in a browser with a session: the given headers are sent, and a 401 is an answer', async () => {
    const almanac = client({ headers: { 'X-Almanac-Console': '1' } } as Partial<ClientOptions>);
    answers = [{ body: domain }, failure(401)];
    await showDomain(almanac);
    await expect(showDomain(almanac)).rejects.toMatchObject({ status: 401 });
    expect(seen.map(({ authorization, console }) => [authorization, console])).toEqual([
      [undefined, '1'],
      [undefined, '1'],
    ]);
    expect(tokens).toBe(0);
  });

  it('that are not given tell why, and the next call asks again', async () => {
    const almanac = client();
    tokenAnswer = () => ({ status: 401, body: { error: 'invalid_client', error_description: 'Unknown client.' } });
    await expect(showDomain(almanac)).rejects.toMatchObject({
      status: 401,
      error: 'invalid_client',
      errors: ['Unknown client.'],
    });
    tokenAnswer = undefined;
    expect(await showDomain(almanac)).toEqual(domain);
  });

  it('go on being fetched for the others when one of those who wait gives up', async () => {
    const almanac = client();
    const aborted = new AbortController();
    const given = showDomain(almanac, aborted.signal);
    const other = showDomain(almanac);
    aborted.abort(new Error('no longer wanted'));
    await expect(given).rejects.toThrow('no longer wanted');
    expect(await other).toEqual(domain);
    expect(tokens).toBe(1);
  });
});

describe('repetitions', () => {
  it('are made of reads, of POSTs under one key, and of grid queries', async () => {
    const almanac = client();
    answers = [failure(503, { 'Retry-After': '0' }), 'hang up', { body: domain }];
    expect(await showDomain(almanac)).toEqual(domain);
    answers = ['hang up', failure(503), { status: 201, body: domain }];
    expect(await createDomain(almanac)).toEqual(domain);
    const keys = seen.slice(3).map(({ key }) => key);
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{36}$/), keys[0], keys[0]]);
    expect(new Set(seen.slice(3).map(({ body }) => body)).size).toBe(1);
    answers = [failure(503), { body: { rows: [], rowCount: 0 } }];
    await almanac.post('/table_data/grid', { body: { table_definition_id: 1, startRow: 0, endRow: 1 } });
    expect(seen.at(-1)?.key).toBeUndefined();
  });

  it('are not made of what may have been done: PATCH, and POST where the API takes no key', async () => {
    const almanac = client();
    answers = [failure(503)];
    await expect(almanac.patch('/domains/{id}', { params: { path: { id: 3 } }, body: { domain: {} } })).rejects.toThrow(
      '503',
    );
    await expect(almanac.post('/deployments/{id}/rehearse', { params: { path: { id: 3 } } })).rejects.toThrow('503');
    answers = ['hang up'];
    await expect(
      almanac.patch('/domains/{id}', { params: { path: { id: 3 } }, body: { domain: {} } }),
    ).rejects.toThrow();
    expect(seen).toHaveLength(3);
  });

  it('are made of any call that the system says it did not take (429), but not when it says to come back much later', async () => {
    const almanac = client();
    answers = [failure(429, { 'Retry-After': '0' }), { body: domain }];
    await almanac.patch('/domains/{id}', { params: { path: { id: 3 } }, body: { domain: {} } });
    expect(seen).toHaveLength(2);
    answers = [failure(429, { 'Retry-After': '86400' })];
    await expect(showDomain(almanac)).rejects.toMatchObject({ status: 429, retryAfter: 86400 });
    expect(seen).toHaveLength(3);
  });

  it('come to an end', async () => {
    answers = [failure(503)];
    await expect(showDomain(client({ retries: 1 }))).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(2);
  });

  it('find deleted what an attempt without an answer had deleted', async () => {
    answers = ['hang up', failure(404)];
    await client().delete('/domains/{id}', { params: { path: { id: 3 } } });
    answers = [failure(404)];
    await expect(client().delete('/domains/{id}', { params: { path: { id: 3 } } })).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe('answers', () => {
  it('that are no success are one error with all that was said', async () => {
    answers = [failure(422)];
    const error = await createDomain(client()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AlmanacError);
    expect(error).toMatchObject({
      message: 'POST /domains answered 422: Refused | Line one. | Line two.',
      status: 422,
      error: 'Refused',
      errors: ['Line one.', 'Line two.'],
      problems,
      requestId: 'request-1',
    });
  });

  it('of a system that sends no problems have none', async () => {
    answers = [{ status: 422, body: { error: 'Refused', errors: ['Line one.'] } }];
    await expect(createDomain(client())).rejects.toMatchObject({ errors: ['Line one.'], problems: [] });
  });

  it('are no longer waited for when the signal is aborted: neither the answer nor a pause', async () => {
    const almanac = client();
    answers = ['hang'];
    const abort = new AbortController();
    const waiting = showDomain(almanac, abort.signal);
    setTimeout(() => abort.abort(new Error('enough')), 50);
    await expect(waiting).rejects.toThrow('enough');
    answers = [failure(503, { 'Retry-After': '20' })];
    await expect(showDomain(almanac, AbortSignal.timeout(100))).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('that do not come are given up after a time', async () => {
    const almanac = client({ timeoutMs: 1_000, retries: 1 });
    await showDomain(almanac); // now it has a token
    answers = ['hang'];
    await expect(showDomain(almanac, undefined, 4)).rejects.toMatchObject({ name: 'TimeoutError' });
    // What an earlier test gave up may come only now.
    expect(seen.filter(({ url }) => url.endsWith('/4'))).toHaveLength(2);
  });
});

describe('exact numbers', () => {
  it('are asked for wherever records are answered, unless a call says otherwise', async () => {
    const almanac = client();
    const query = { table_definition_id: 1 };
    answers = [{ body: { svc_sk: 7 } }];
    await almanac.get('/table_data/{id}', { params: { path: { id: 7 }, query } });
    await almanac.patch('/table_data/{id}', { params: { path: { id: 7 } }, body: { ...query, record: {} } });
    await almanac.post('/table_data/grid', { body: { ...query, startRow: 0, endRow: 1 } });
    await almanac.get('/table_data/{id}/history', { params: { path: { id: 7 }, query } });
    expect(seen.map(({ exact }) => exact)).toEqual(['true', 'true', 'true', 'true']);
    await almanac.get('/table_data/{id}', {
      params: { path: { id: 7 }, query: { ...query, exact_numbers: 'false' } },
    });
    await almanac.get('/table_data', { params: { query, header: { 'Exact-Numbers': 'false' } } });
    await showDomain(almanac);
    expect(seen.slice(4).map(({ exact }) => exact)).toEqual([undefined, 'false', undefined]);
  });
});

describe('lists and grids', () => {
  it('come item by item over all pages, each asked for when it is needed', async () => {
    answers = [page([1, 2], 1, 3), page([3, 4], 2, 3), page([5], 3, 3)];
    const ids: number[] = [];
    for await (const { id } of client().list('/domains', { params: { query: { sort: 'name', per_page: 2 } } })) {
      ids.push(id);
      expect(seen).toHaveLength(Math.ceil(ids.length / 2));
    }
    expect(ids).toEqual([1, 2, 3, 4, 5]);
    expect(seen[1]?.url).toBe('/api/v1/domains?per_page=2&sort=name&page=2');
  });

  it('of a grid come a thousand rows a call', async () => {
    const rows = (count: number) => Array.from({ length: count }, (_none, place) => ({ svc_sk: place }));
    answers = [{ body: { rows: rows(1000), rowCount: 1500 } }, { body: { rows: rows(500), rowCount: 1500 } }];
    let count = 0;
    for await (const _row of client().rows({ table_definition_id: 7, sortModel: [{ colId: 'code', sort: 'asc' }] }))
      count += 1;
    expect(count).toBe(1500);
    expect(seen.map(({ body }) => JSON.parse(body).startRow)).toEqual([0, 1000]);
  });
});

describe('long work', () => {
  it('is waited for, with reports of its progress', async () => {
    const at = (status: string): Answer => ({ body: { id: 9, status } });
    answers = [at('processing'), at('processing'), at('completed')];
    const states: string[] = [];
    const done = await client().waitForImport(9, { everyMs: 1, onProgress: ({ status }) => states.push(status) });
    expect(done.status).toBe('completed');
    expect(states).toEqual(['processing', 'processing', 'completed']);
  });

  it('ends for the waiting caller when the signal is aborted', async () => {
    answers = [{ body: { id: 9, status: 'processing' } }];
    const abort = new AbortController();
    const waiting = client().waitForExport(9, {
      signal: abort.signal,
      onProgress: () => abort.abort(new Error('enough')),
    });
    await expect(waiting).rejects.toThrow('enough');
  });

  it('uploads without a token, to the address that was given', async () => {
    answers = ['hang up', { status: 200 }];
    await client().upload(`${baseUrl}/files/signed`, 'code\r\nDE\r\n');
    expect(seen).toMatchObject([
      { url: '/files/signed' },
      { method: 'PUT', authorization: undefined, body: 'code\r\nDE\r\n' },
    ]);
  });
});

describe('types', () => {
  it('have what the API takes: rows of an instant, and resources by their names', async () => {
    const almanac = client();
    const grid: Grid = {
      table_definition_key: 'countries',
      branch_id: 1,
      as_of: '2026-01-31T00:00:00Z',
      filterModel: { name: { filterType: 'text', type: 'contains', filter: 'land' } },
      sortModel: [{ colId: 'alpha2', sort: 'asc', type: 'default' }],
    };
    answers = [{ body: { rows: [], rowCount: 0 } }];
    for await (const row of almanac.rows(grid)) expect(row).toBeUndefined();
    expect(JSON.parse(seen.at(-1)?.body ?? '')).toMatchObject({ as_of: '2026-01-31T00:00:00Z' });
    answers = [page([], 1, 1)];
    const query = { table_definition_id: 1, as_of: '2026-01-31T00:00:00Z' };
    for await (const row of almanac.list('/table_data', { params: { query } })) expect(row).toBeUndefined();
    expect(seen.at(-1)?.url).toContain('as_of=2026-01-31');
    const made: Schemas['NewDomain'] = { name: 'Geography' };
    answers = [{ status: 201, body: domain }];
    const shown: Schemas['Domain'] = await almanac.post('/domains', { body: { domain: made } });
    expect(shown.id).toBe(3);
  });
});
