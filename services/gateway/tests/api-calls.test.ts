// Calls of the API through the gateway: forwarded, or refused by path and method.
import { createContextVerifier } from '@almanac/service-kit/caller/call-context';
import { refusal } from '@almanac/testkit/calls/refusal';
import { apiRoutes } from '../src/routes.ts';
import { publicUrl } from './fakes.ts';
import { callWith, getExactly } from './given.ts';
import { useNeighbours } from './neighbours.ts';

const { keys, services, identity, useGateway } = useNeighbours();
const gateway = useGateway();
let token: string;
beforeAll(async () => {
  token = await identity.token();
});

const call = (method: string, path: string, init?: RequestInit) => callWith(gateway, token, method, path, init);
const json = (body: unknown): RequestInit => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

describe('forwarding', () => {
  it('forwards a call with the context of its token, and returns the answer unchanged', async () => {
    services.answer((_req, res) => {
      res.writeHead(201, {
        'content-type': 'application/json',
        etag: '"7"',
        'x-powered-by': 'secret',
        server: 'secret',
      });
      res.end('{"id":7}');
    });
    const own = await identity.token({ account_id: 4, user_id: 9, scope: 'api:write api:read' });
    const answer = await callWith(gateway, own, 'POST', '/api/v1/table_data?x=1&x=2', {
      ...json({ a: 'ü' }),
      headers: { 'content-type': 'application/json', 'x-request-id': 'my-request-1', 'idempotency-key': 'k1' },
    });
    expect([answer.status, await answer.text()]).toEqual([201, '{"id":7}']);
    expect(answer.headers.get('etag')).toBe('"7"');
    expect(answer.headers.get('x-request-id')).toBe('my-request-1');
    expect(answer.headers.get('x-powered-by')).toBeNull();
    expect(answer.headers.get('server')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const [reached] = services.reached;
    expect(reached).toMatchObject({ method: 'POST', url: '/api/v1/table_data?x=1&x=2', body: '{"a":"ü"}' });
    expect(reached?.headers).toMatchObject({
      'idempotency-key': 'k1',
      'x-request-id': 'my-request-1',
      'x-almanac-answer-within': '300000',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(publicUrl).host,
    });
    expect(reached?.headers.authorization).toBeUndefined();
    const context = String(reached?.headers['x-almanac-context']);
    const elsewhere = createContextVerifier(keys.publicKeys, 'jobs');
    await expect(elsewhere(context, 'r', 'http')).rejects.toMatchObject({ kind: 'unauthenticated' });
    const verify = createContextVerifier(keys.publicKeys, 'data');
    expect(await verify(context, 'r', 'http')).toEqual({
      issuer: 'gateway',
      accountId: 4,
      userId: 9,
      applicationId: 11,
      scopes: ['api:write', 'api:read'],
      branching: true,
      storageBytes: 1024 ** 4,
      requestId: 'r',
    });
  });

  it('uses one signed context for many calls with one token', async () => {
    for (let i = 0; i < 3; i += 1) await call('GET', '/api/v1/domains');
    expect(new Set(services.reached.map((each) => each.headers['x-almanac-context'])).size).toBe(1);
  });

  it('removes headers by which a client could pose as another caller', async () => {
    const plain = await call('GET', '/api/v1/domains');
    const forged = {
      'x-account-id': '2',
      'x-user-id': '2',
      'x-scopes': 'api',
      'x-almanac-context': 'forged',
      'x-almanac-anything': 'forged',
      'x-almanac-answer-within': '1',
      forwarded: 'for=6.6.6.6',
      'x-forwarded-for': '6.6.6.6',
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'https',
      'x-original-url': '/admin',
      'x-rewrite-url': '/admin',
      'x-http-method-override': 'DELETE',
      'grpc-metadata-context': 'forged',
      cookie: 'a=b',
      'x-request-id': 'no good id\t',
    };
    const answer = await call('GET', '/api/v1/domains', { headers: forged });
    expect([answer.status, await answer.text()]).toEqual([plain.status, await plain.text()]);
    const [first, second] = services.reached;
    const without = (headers: Record<string, unknown> = {}) => ({ ...headers, 'x-request-id': '' });
    expect(without(second?.headers)).toEqual(without(first?.headers));
    expect(second?.method).toBe('GET');
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('forwards the trace context of the caller unchanged', async () => {
    const trace = {
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      tracestate: 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7',
    };
    await call('GET', '/api/v1/domains', { headers: trace });
    await fetch(`${gateway.url}/oauth/authorize`, { headers: trace });
    expect(services.reached.map(({ headers }) => headers)).toEqual([
      expect.objectContaining(trace),
      expect.objectContaining(trace),
    ]);
  });

  it('forwards HEAD as HEAD', async () => {
    const answer = await call('HEAD', '/api/v1/domains');
    expect([answer.status, services.reached[0]?.method]).toEqual([200, 'HEAD']);
  });

  it('forwards a large body in both directions', async () => {
    const text = 'x'.repeat(900_000);
    services.answer((_req, res, body) => res.end(body));
    const answer = await call('POST', '/api/v1/table_data', json({ text }));
    expect(await answer.json()).toEqual({ text });
  });

  it('forwards an upload that is larger than the limit of JSON bodies', async () => {
    const bytes = Buffer.alloc(3_000_000, 'a');
    const answer = await call('PUT', '/api/v1/imports/1/tables/2/file', { body: bytes });
    expect(answer.status).toBe(200);
    expect(services.reached[0]?.body).toHaveLength(bytes.length);
  });
});

describe('paths and methods', () => {
  it.each(apiRoutes.map((route) => [route.method, route.path]))('routes %s %s', async (method, path) => {
    const url = `/api/v1${path.replace(/\{\w+\}/g, '7')}`;
    expect((await call(method, url)).status).toBe(200);
    expect(services.reached[0]).toMatchObject({ method, url });
  });

  it.each([
    '/api/v1',
    '/api/v1/',
    '/api/v1/nothing',
    '/api/v1/domains/',
    '/api/v1/domains/7/more',
    '/api/v1/Domains',
    '/api/V1/domains',
    '/API/v1/domains',
    '/api/v1//domains',
    '//api/v1/domains',
    '/api/v1/domains;a=b',
    '/api/v1/domains/7;a=b',
    '/api/v1/domains/%37',
    '/api/v1/domains%2f7',
    '/api/v1/%64omains',
    '/api/v1/domains/%00',
    '/api/v1/domains/%c0%af',
    '/api/v1/domains/%2e%2e/account',
    '/api/v1/account.css',
    '/api/v1/promotion',
    '/api/v2/domains',
    '/api/v1/constructor',
    '/api/v1/__proto__',
    '/healthz/',
    '/oauth',
    '/oauth//token',
    '/oauth/%2e%2e/api/v1/users',
    '/nothing',
  ])('answers 404 for %s before it checks a token', async (path) => {
    const answer = await getExactly(gateway, path);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toEqual(
      refusal('Not found', 'unknown_address', 'There is nothing at this address.'),
    );
    expect(services.reached).toEqual([]);
  });

  it('accepts an encoded key that is not ASCII', async () => {
    const answer = await call('GET', '/api/v1/table_definitions/caf%C3%A9?branch_id=1');
    expect([answer.status, services.reached[0]?.url]).toEqual([200, '/api/v1/table_definitions/caf%C3%A9?branch_id=1']);
  });

  it.each([
    ['PUT', '/api/v1/domains', 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', '/api/v1/account', 'GET, HEAD, PATCH, OPTIONS'],
    ['GET', '/api/v1/table_data/grid', 'POST, OPTIONS'],
    ['PROPFIND', '/api/v1/domains/7', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
  ])('answers 405 for %s %s, with the allowed methods', async (method, path, allow) => {
    const answer = await fetch(gateway.url + path, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expect(await answer.json()).toEqual(
      refusal('Method not allowed', 'method_not_allowed', `Use ${allow}.`, { params: { allowed: allow?.split(', ') } }),
    );
  });

  it('answers OPTIONS without a token', async () => {
    const answer = await fetch(`${gateway.url}/api/v1/domains/7`, { method: 'OPTIONS' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, PATCH, DELETE, OPTIONS']);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect((await fetch(`${gateway.url}/api/v1/nothing`, { method: 'OPTIONS' })).status).toBe(404);
  });
});
