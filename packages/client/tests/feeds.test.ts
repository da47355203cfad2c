// Feeds against a server with scripted answers: cursors, pauses and interruptions.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import {
  AlmanacError,
  type ClientOptions,
  createClient,
  verifyWebhook,
  WebhookVerificationError,
} from '../src/client.ts';

type Answer = { status?: number; body?: unknown; headers?: Record<string, string> } | 'hang up';

let server: Server;
let baseUrl: string;
let seen: { path: string; query: Record<string, string | string[]>; exact: unknown }[];
/** One after the other; the last one stays. */
let answers: Answer[];

beforeAll(async () => {
  server = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://localhost');
    const query = Object.fromEntries(
      [...new Set(searchParams.keys())].map((name) => {
        const values = searchParams.getAll(name);
        return [name, values.length === 1 ? (values[0] as string) : values];
      }),
    );
    seen.push({ path: pathname.replace('/api/v1', ''), query, exact: req.headers['exact-numbers'] });
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) as Answer;
    if (answer === 'hang up') return void req.socket.destroy();
    const { status = 200, body, headers = {} } = answer;
    res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((done) => server.close(done)));

beforeEach(() => {
  seen = [];
});

const client = (more: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl, token: 'token', retries: 0, ...more } as ClientOptions);
const page = (cursor: unknown, data: unknown[] = [], has_more = false): Answer => ({
  body: { data, cursor, has_more },
});
const refusal = (status: number, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: { error: 'Refused', errors: ['Refused.'], problems: [] },
});
const table = { table_definition_key: 'countries', branch_id: 1 };

describe('the changes of a table', () => {
  it('come page by page from a cursor to the next one, empty pages with a newer cursor too', async () => {
    answers = [page('b', [{ change: 'created' }], true), page('c'), page('c'), page('d', [{ change: 'deleted' }])];
    const found: unknown[] = [];
    for await (const { data, cursor, has_more } of client().changes(table, { after: 'a', everyMs: 5 })) {
      found.push([data.map(({ change }) => change), cursor, has_more]);
      if (cursor === 'd') break;
    }
    expect(found).toEqual([
      [['created'], 'b', true],
      [[], 'c', false],
      [['deleted'], 'd', false],
    ]);
    const query = { table_definition_key: 'countries', branch_id: '1', limit: '1000' };
    expect(seen).toEqual(
      ['a', 'b', 'c', 'c'].map((after) => ({ path: '/table_data/changes', query: { ...query, after }, exact: 'true' })),
    );
  });

  it('begin with the cursor of now, and take a page when it is asked for', async () => {
    answers = [page('a')];
    const feed = client().changes({ ...table, versions: 'all' }, { limit: 10, everyMs: 5 });
    expect((await feed.next()).value).toEqual({ data: [], cursor: 'a', has_more: false });
    expect(seen.map(({ query }) => query)).toEqual([
      { table_definition_key: 'countries', branch_id: '1', versions: 'all', limit: '10' },
    ]);
    await feed.return();
  });

  it('go on from their cursor after what passes: no answer, 503, 429', async () => {
    answers = [page('b', [{}]), 'hang up', refusal(503), refusal(429, { 'Retry-After': '1' }), page('c', [{}])];
    const waits: number[] = [];
    const cursors: string[] = [];
    const onRetry = (_: unknown, waitMs: number) => waits.push(waitMs);
    for await (const { cursor } of client().changes(table, { after: 'a', everyMs: 5, onRetry })) {
      cursors.push(cursor);
      if (cursor === 'c') break;
    }
    expect([cursors, seen.map(({ query }) => query.after)]).toEqual([
      ['b', 'c'],
      ['a', 'b', 'b', 'b', 'b'],
    ]);
    expect(waits).toHaveLength(3);
    expect(waits[0]).toBeLessThanOrEqual(1_000);
    expect(waits[2]).toBeGreaterThanOrEqual(1_000);
  });

  it.each([
    [410, {}],
    [403, {}],
    [429, { 'Retry-After': '86400' }],
  ])('end with %i, which a repetition does not help', async (status, headers) => {
    answers = [refusal(status, headers as Record<string, string>)];
    const error = await client({ longestRetryAfter: 0 })
      .changes(table, { after: 'old' })
      .next()
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(AlmanacError);
    expect([error.status, seen.length]).toEqual([status, 1]);
  });

  it('end with the signal: in a pause, and while they wait to try again', async () => {
    for (const first of [page('b'), refusal(503)]) {
      answers = [first];
      const abort = new AbortController();
      const feed = client().changes(table, { after: 'b', everyMs: 60_000, signal: abort.signal });
      const next = feed.next().catch((reason) => reason);
      setTimeout(() => abort.abort(new Error('enough')), 50);
      expect(await next).toEqual(new Error('enough'));
    }
  });
});

it('events come the same way, of some types or all', async () => {
  answers = [page(7, [{ id: 7, type: 'deployment.approved' }])];
  for await (const { data, cursor } of client().events({ type: ['deployment.*', 'rows.changed'] }, { after: 3 })) {
    expect([data[0]?.type, cursor]).toEqual(['deployment.approved', 7]);
    break;
  }
  for await (const _ of client().events()) break;
  expect(seen.map(({ path, query }) => [path, query])).toEqual([
    ['/events', { type: ['deployment.*', 'rows.changed'], limit: '1000', after: '3' }],
    ['/events', { limit: '1000' }],
  ]);
});

describe('a message of a webhook', () => {
  const [secret, other] = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_b3RoZXJvdGhlcm90aGVyb3RoZXI='];
  const event = { id: 12, type: 'rows.changed', data: {} };
  const body = JSON.stringify(event);
  const signed = (at = new Date(), by = secret) => ({
    'Webhook-Id': '12',
    'Webhook-Timestamp': String(Math.floor(at.getTime() / 1000)),
    'Webhook-Signature': new Webhook(by).sign('12', at, body),
  });

  it('is its event when the signature holds, by one of the secrets', () => {
    const bytes = new TextEncoder().encode(body);
    expect(verifyWebhook(body, signed(), secret)).toEqual(event);
    expect(verifyWebhook(bytes, new Headers(signed()), secret)).toEqual(event);
    expect(verifyWebhook(Buffer.from(bytes), signed(), [other, secret])).toEqual(event);
    const lists = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toLowerCase(), [value]]));
    expect(verifyWebhook(body, lists, secret)).toEqual(event);
  });

  it.each([
    ['another body', `${body} `, signed()],
    ['another secret', body, signed(new Date(), other)],
    ['an old time', body, signed(new Date(Date.now() - 6 * 60_000))],
    ['no signature', body, {}],
  ])('is refused with %s', (_, text, headers) => {
    expect(() => verifyWebhook(text, headers, secret)).toThrow(WebhookVerificationError);
    expect(() => verifyWebhook(text, headers, [])).toThrow(WebhookVerificationError);
  });
});
