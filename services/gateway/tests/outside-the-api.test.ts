// Addresses beside the API: pages, documents and health; and what browsers ask.
import { limits } from '@almanac/service-kit/limits';
import { upstreamNames } from '../src/config.ts';
import { publicUrl } from './fakes.ts';
import { callWith, getExactly } from './given.ts';
import { useNeighbours } from './neighbours.ts';
import { lines, send } from './raw.ts';

const { services, identity, useGateway, startGateway } = useNeighbours();
const gateway = useGateway();
let token: string;
beforeAll(async () => {
  token = await identity.token();
});

const call = (method: string, path: string, init?: RequestInit) => callWith(gateway, token, method, path, init);

describe('outside the API', () => {
  it('forwards OAuth requests to identity with credentials, cookies and the client address', async () => {
    await fetch(`${gateway.url}/oauth/token`, {
      method: 'POST',
      headers: {
        authorization: 'Basic YTpi',
        cookie: 'session=1',
        'x-forwarded-for': '6.6.6.6',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=client_credentials',
    });
    expect(services.reached[0]).toMatchObject({ url: '/oauth/token', body: 'grant_type=client_credentials' });
    expect(services.reached[0]?.headers).toMatchObject({
      authorization: 'Basic YTpi',
      cookie: 'session=1',
      'x-forwarded-for': '127.0.0.1',
    });
    expect(services.reached[0]?.headers['x-almanac-context']).toBeUndefined();
  });

  it('answers errors of an OAuth endpoint in the form of OAuth', async () => {
    const url = `${gateway.url}/oauth/token`;
    const refused = await fetch(url, { method: 'DELETE' });
    expect(refused.status).toBe(405);
    expect(await refused.json()).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
    const large = await fetch(url, { method: 'POST', body: 'x'.repeat(65_537) });
    expect([large.status, large.headers.get('cache-control')]).toEqual([413, 'no-store']);
    expect(await large.json()).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
    expect(services.reached).toEqual([]);
  });

  it.each([
    ['a compressed body', 415, 'POST', '/oauth/token', { 'content-encoding': 'gzip' }],
    ['an address that is too long', 414, 'GET', `/oauth/token?${'x'.repeat(9_000)}`, {}],
    ['a page’s address that is too long', 414, 'GET', `/oauth/authorize?${'x'.repeat(9_000)}`, {}],
    ['an unknown method', 405, 'PROPFIND', '/oauth/authorize', {}],
    ['headers that are too large', 431, 'POST', '/oauth/revoke', { 'x-much': 'x'.repeat(16_500) }],
  ])('refuses %s at an OAuth endpoint in the form of OAuth', async (_case, status, method, path, headers) => {
    const body = method === 'POST' ? 'grant_type=client_credentials' : undefined;
    const answer = await fetch(gateway.url + path, { method, headers, body });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, 'no-store']);
    expect(await answer.json()).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
    expect(services.reached).toEqual([]);
  });

  it.each([
    ['/oauth/token', 'POST, OPTIONS'],
    ['/oauth/revoke', 'POST, OPTIONS'],
    ['/oauth/introspect', 'POST, OPTIONS'],
    ['/oauth/authorize', 'GET, HEAD, POST, OPTIONS'],
    ['/oauth/password/forgot', 'GET, HEAD, POST, OPTIONS'],
    ['/oauth/style.css', 'GET, HEAD, OPTIONS'],
    ['/.well-known/jwks.json', 'GET, HEAD, OPTIONS'],
  ])('names the methods of %s, in answers to OPTIONS and in errors', async (path, allow) => {
    const url = gateway.url + path;
    const options = await fetch(url, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await fetch(url, { method });
      const isAllowed = allow.split(', ').includes(method);
      expect([method, status, headers.get('allow')]).toEqual(isAllowed ? [method, 200, null] : [method, 405, allow]);
    }
    expect(services.reached.filter(({ method }) => !allow.includes(method))).toEqual([]);
  });

  it.each(['/oauth/token/', '/oauth/'])('answers 404 for %s in the form of OAuth', async (path) => {
    const answer = await getExactly(gateway, path);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toEqual({
      error: 'invalid_request',
      error_description: 'There is nothing at this address.',
    });
    expect(services.reached).toEqual([]);
  });

  it('forwards pre-signed files to jobs, without credentials', async () => {
    await fetch(`${gateway.url}/files/exports/a.csv?signature=s`, {
      headers: { authorization: 'Bearer x', cookie: 'a=b' },
    });
    expect(services.reached[0]).toMatchObject({ url: '/files/exports/a.csv?signature=s' });
    expect(services.reached[0]?.headers.authorization).toBeUndefined();
    expect(services.reached[0]?.headers.cookie).toBeUndefined();
    expect((await fetch(`${gateway.url}/files/exports/a.csv`, { method: 'DELETE' })).status).toBe(405);
  });

  it('forwards messages of the payment provider to billing unchanged, without credentials, up to a size', async () => {
    const url = `${gateway.url}/webhooks/payments`;
    const body = '{ "type" : "payment.failed" }';
    const headers = { 'webhook-id': 'msg_1', 'webhook-signature': 'v1,x', authorization: 'Bearer x', cookie: 'a=b' };
    await fetch(url, { method: 'POST', body, headers });
    expect(services.reached[0]).toMatchObject({ method: 'POST', url: '/webhooks/payments', body });
    expect(services.reached[0]?.headers).toMatchObject({ 'webhook-id': 'msg_1', 'webhook-signature': 'v1,x' });
    for (const name of ['authorization', 'cookie', 'x-almanac-context'])
      expect(services.reached[0]?.headers[name]).toBeUndefined();
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await fetch(url, { method })).status).toBe(405);
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(limits.webhookBytes) })).status).toBe(200);
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(limits.webhookBytes + 1) })).status).toBe(413);
    expect(services.reached).toHaveLength(2);
  });

  it('forwards the mail folder to jobs only for requests from this machine to a local host name', async () => {
    const statusFor = async (host: string, to = gateway) =>
      (
        await send(
          to,
          lines('GET /dev/mail HTTP/1.1', `Host: ${host}`, 'X-Forwarded-For: 10.1.2.3', 'Connection: close'),
        )
      ).status;
    for (const host of ['127.0.0.1:8080', 'localhost', '[::1]:1']) expect(await statusFor(host)).toBe(200);
    expect(services.reached.map(({ url, headers }) => [url, headers['x-forwarded-for']])).toEqual(
      Array(3).fill(['/dev/mail', '127.0.0.1']),
    );
    for (const host of ['almanac.test:8080', 'localhost.evil.test', '10.0.0.1'])
      expect(await statusFor(host)).toBe(404);
    expect(await statusFor('localhost', await startGateway({ trustedHops: 1 }))).toBe(404);
    expect(services.reached).toHaveLength(3);
    expect((await fetch(`${gateway.url}/dev/mail`, { method: 'POST' })).status).toBe(405);
  });

  it('answers health, readiness and documents, and shows clients no metrics', async () => {
    expect(await (await fetch(`${gateway.url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
    expect(await gateway.metrics()).toContain('almanac_http_request_seconds');
    const docs = await fetch(`${gateway.url}/docs`);
    expect(docs.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(docs.status).toBe(200);
    expect((await fetch(`${gateway.url}/docs/../package.json`)).status).toBe(404);
    expect((await fetch(gateway.url, { redirect: 'manual' })).headers.get('location')).toBe('/docs');
  });

  it('serves the documentation so that browsers keep it: scripts for ever, pages until they change', async () => {
    const page = await fetch(`${gateway.url}/docs`);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    const etag = page.headers.get('etag') as string;
    const again = await fetch(`${gateway.url}/docs`, {
      headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
    });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const redirect = await (await fetch(`${gateway.url}/docs/oauth2-redirect.html`)).text();
    const html = (await page.text()) + redirect;
    const files = [...html.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path]) => path as string);
    expect(files.length).toBeGreaterThanOrEqual(5);
    for (const file of files) {
      expect(file).toMatch(/^\/docs\/[\w-]+\.[\w-]{24}\.(js|css|png)$/);
      const { status, headers } = await fetch(`${gateway.url}${file}`);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(headers.get('etag')).toMatch(/^"[\w-]{24}(-br|-gzip)?"$/);
    }
  });

  it('merges the documents of the services, with one request to each for many concurrent readers', async () => {
    services.answer((_req, res) => {
      const paths = { '/api/v1/domains': { get: { summary: 'List' } } };
      res.setHeader('content-type', 'application/json').end(JSON.stringify({ paths }));
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${gateway.url}/openapi.json`)));
    for (const answer of answers)
      expect(await answer.json()).toMatchObject({
        openapi: '3.1.0',
        servers: [{ url: publicUrl }],
        paths: { '/api/v1/domains': { get: { summary: 'List' } } },
      });
    const fetched = services.reached.filter(({ url }) => url === '/openapi.json');
    expect(fetched.length).toBeGreaterThan(0);
    expect(fetched.length).toBeLessThanOrEqual(upstreamNames.length);
  });

  it('answers 304 to a reader that has the document', async () => {
    const first = await fetch(`${gateway.url}/openapi.json`);
    const etag = first.headers.get('etag') as string;
    const again = await fetch(`${gateway.url}/openapi.json`, {
      headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
    });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect(again.headers.get('cache-control')).toBe('no-cache');
  });
});

describe('browsers', () => {
  const securityHeaders = {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-request-id': expect.stringMatching(/^[\w-]{36}$/),
  };

  it('get the security headers with every answer, of the gateway and of a service', async () => {
    const answers = [
      await call('GET', '/api/v1/domains'),
      await fetch(`${gateway.url}/api/v1/domains`),
      await fetch(`${gateway.url}/nothing`),
      await fetch(`${gateway.url}/healthz`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 200]);
    for (const { headers } of answers) expect(Object.fromEntries(headers)).toMatchObject(securityHeaders);
    for (const { headers } of answers) expect(headers.get('strict-transport-security')).toBeNull();
  });

  it('get Strict-Transport-Security when the public URL is https://', async () => {
    const secure = await startGateway({ common: { publicUrl: 'https://almanac.test' } });
    const { headers } = await fetch(`${secure.url}/nothing`);
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
  });

  it('of other origins may not read answers by default', async () => {
    const answer = await call('GET', '/api/v1/domains', { headers: { origin: 'https://app.test' } });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('of a configured origin may call the API, send files and read errors; others may not', async () => {
    const other = await startGateway({ corsOrigins: ['https://app.test', 'https://other.test'] });
    const preflightOf = (path: string, origin: string, method: string) =>
      fetch(`${other.url}${path}`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': method } });
    const permissionsIn = ({ status, headers }: Response) => [
      status,
      headers.get('vary'),
      headers.get('access-control-allow-origin'),
      headers.get('access-control-allow-methods'),
    ];
    const methods = 'GET, HEAD, POST, OPTIONS';
    const preflight = await preflightOf('/api/v1/domains', 'https://app.test', 'POST');
    expect(permissionsIn(preflight)).toEqual([204, 'Origin', 'https://app.test', methods]);
    const headers = preflight.headers.get('access-control-allow-headers')?.split(', ');
    expect(headers).toEqual(
      expect.arrayContaining(['Authorization', 'Content-Type', 'Exact-Numbers', 'Idempotency-Key', 'If-Match']),
    );
    const file = await preflightOf('/files/imports/1?signature=x', 'https://other.test', 'PUT');
    expect(permissionsIn(file)).toEqual([204, 'Origin', 'https://other.test', 'GET, HEAD, PUT, OPTIONS']);
    for (const evil of ['https://evil.test', 'https://app.test.evil.test', 'null', 'http://app.test'])
      expect(permissionsIn(await preflightOf('/api/v1/domains', evil, 'POST'))).toEqual([204, 'Origin', null, null]);

    const get = (path: string, origin: string) => callWith(other, token, 'GET', path, { headers: { origin } });
    for (const path of ['/api/v1/domains', '/api/v1/nothing']) {
      const answer = await get(path, 'https://app.test');
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.test');
      expect(answer.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect((await get(path, 'https://evil.test')).headers.get('access-control-allow-origin')).toBeNull();
    }
    services.answer((_req, res) => res.setHeader('vary', 'Exact-Numbers').end('{}'));
    const varied = await get('/api/v1/table_data', 'https://app.test');
    expect(varied.headers.get('vary')?.split(', ').sort()).toEqual(['Exact-Numbers', 'Origin']);
  });
});
