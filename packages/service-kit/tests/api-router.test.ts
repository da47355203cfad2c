import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { eventually } from '@almanac/testkit/eventually';
import { exportJWK, generateKeyPair } from 'jose';
import { z } from 'zod';
import { type Method, route } from '../src/api/route.ts';
import { createContextSigner, createContextVerifier } from '../src/caller/call-context.ts';
import { Health } from '../src/observability/health.ts';
import { createLogger } from '../src/observability/logger.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createHttpServer, type HttpServer } from '../src/process/http-server.ts';

const base = { tag: 'Things', summary: 'A thing', description: 'One of many things.' };
const key = { id: z.string() };
const named = (method: Method, path: string, params?: z.ZodRawShape) =>
  route({ ...base, method, path, params, handle: async ({ params: given }) => ({ route: path, params: given }) });

const asked = Promise.withResolvers<void>();

// The fixed word is declared after the parameter in its place.
const routes = [
  named('GET', '/things/{id}', key),
  named('DELETE', '/things/{id}', key),
  named('GET', '/things/{id}/parts/{part_id}', { ...key, part_id: z.string() }),
  named('POST', '/things/find'),
  named('GET', '/things'),
  route({
    ...base,
    method: 'GET',
    path: '/faults',
    handle: () => Promise.reject(Object.assign(new Error('of a neighbour'), { status: 404 })),
  }),
  // It answers as a stream, and finds that the client has left.
  route({
    ...base,
    method: 'GET',
    path: '/streams',
    produces: 'text/event-stream',
    handle: async ({ response }) => {
      asked.resolve();
      await once(response, 'close');
    },
  }),
];

const message = 'There is nothing at this address.';
const nothing = {
  status: 404,
  body: { error: 'Not found', errors: [message], problems: [{ code: 'unknown_address', message }] },
};

describe('the routes of a service', () => {
  let server: HttpServer;
  let port: number;
  let context: string;
  const logged: string[] = [];

  beforeAll(async () => {
    const pair = await generateKeyPair('EdDSA', { extractable: true });
    const open = { ...(await exportJWK(pair.publicKey)), kid: 'gateway', alg: 'EdDSA' };
    const sign = await createContextSigner('gateway', await exportJWK(pair.privateKey));
    context = await sign({ accountId: 7, scopes: ['api'], branching: false }, 'things:http');
    server = createHttpServer({
      service: 'things',
      host: '127.0.0.1',
      port: 0,
      tls: undefined,
      health: new Health(),
      metrics: createMetrics(),
      routes,
      logger: createLogger('things', 'info', { write: (line) => void logged.push(line) }),
      verifyContext: createContextVerifier({ keys: [open] }),
    });
    port = await server.start();
  });
  afterAll(() => server.stop());

  // Node's own client sends a path as it is; fetch would resolve its dots first.
  async function ask(method: string, path: string) {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'x-almanac-context': context, 'x-request-id': 'request-0001' };
      request({ host: '127.0.0.1', port, method, path, headers }, resolve).on('error', reject).end();
    });
    const { statusCode: status, headers } = answer;
    const received = await text(answer);
    return { status, headers, body: received === '' ? undefined : JSON.parse(received) };
  }

  it('get their parameters as text', async () => {
    expect(await ask('GET', '/api/v1/things/7')).toMatchObject({ status: 200, body: { params: { id: '7' } } });
    expect(await ask('GET', '/api/v1/things/caf%C3%A9/parts/a.b~c-d_')).toMatchObject({
      status: 200,
      body: { route: '/things/{id}/parts/{part_id}', params: { id: 'café', part_id: 'a.b~c-d_' } },
    });
  });

  it('prefer a fixed word to a parameter in its place, for every method', async () => {
    expect(await ask('POST', '/api/v1/things/find')).toMatchObject({ status: 200, body: { route: '/things/find' } });
    for (const method of ['GET', 'HEAD', 'DELETE', 'PATCH'])
      expect((await ask(method, '/api/v1/things/find')).status).toBe(404);
    expect(await ask('DELETE', '/api/v1/things/finder')).toMatchObject({ body: { params: { id: 'finder' } } });
  });

  it('have the methods that are declared, and HEAD beside GET', async () => {
    const { headers, body } = await ask('GET', '/api/v1/things');
    const head = await ask('HEAD', '/api/v1/things');
    expect(head).toMatchObject({ status: 200, headers: { 'content-length': headers['content-length'] } });
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(JSON.stringify(body)));
    for (const method of ['OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE'])
      expect(await ask(method, '/api/v1/things')).toMatchObject(nothing);
    expect((await ask('HEAD', '/api/v1/things/find')).status).toBe(404);
  });

  it.each([
    '/api/v1',
    '/api/v1/',
    '/api/v1/things/',
    '/api/v1//things',
    '//api/v1/things',
    '/API/v1/things',
    '/api/v1/Things',
    '/api/v1/thing',
    '/api/v1/constructor',
    '/api/v1/things/7/parts',
    '/api/v1/things/7/parts/8/more',
    '/api/v1/things/find/parts/8',
    '/api/v1/things;a=b',
    '/api/v1/things/7;a=b',
    '/api/v1/things/7#a',
    '/api/v1/things/%37',
    '/api/v1/%74hings',
    '/api/v1/things%2f7',
    '/api/v1/things/a%2fb',
    '/api/v1/things/%00',
    '/api/v1/things/%',
    '/api/v1/things/%zz',
    '/api/v1/things/%ff',
    '/api/v1/things/%c0%af',
    '/api/v1/things/.',
    '/api/v1/things/..',
    '/api/v1/things/%2e%2e',
    '/api/v1/things/7/../8',
    '/api/v1/things\\7',
    'http://127.0.0.1/api/v1/things',
  ])('are not found under %s', async (path) => {
    expect(await ask('GET', path)).toMatchObject(nothing);
  });

  it('are found with any query', async () => {
    for (const query of ['', '%zz=1', 'a=/../', '#a'])
      expect((await ask('GET', `/api/v1/things?${query}`)).status).not.toBe(404);
  });

  it('take no status from an unknown error', async () => {
    expect(await ask('GET', '/api/v1/faults')).toMatchObject({ status: 500, body: { error: 'Internal server error' } });
    expect(logged.some((line) => line.includes('of a neighbour') && line.includes('request-0001'))).toBe(true);
  });

  it('answer nothing to a client that has left', async () => {
    const headers = { 'x-almanac-context': context };
    const client = request({ host: '127.0.0.1', port, path: '/api/v1/streams', headers });
    client.on('error', () => {}).end();
    await asked.promise;
    client.destroy();
    await eventually(() => expect(logged.join()).toContain('"path":"/api/v1/streams"'));
    expect(logged.filter((line) => line.includes('TypeError'))).toEqual([]);
  });

  it('are named in metrics by their pattern, and in the log by the path', async () => {
    await ask('GET', '/api/v1/things/4711?a=b');
    await ask('GET', '/api/v1/things/find/parts/4712');
    for (const path of ['/api/v1/things/4711', '/api/v1/things/find/parts/4712'])
      await eventually(() => expect(logged.join()).toContain(`"path":"${path}"`));
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toMatch(/almanac_http_request_seconds_count\{[^}]*route="\/things\/\{id\}"/);
    expect(metrics).toMatch(/almanac_http_request_seconds_count\{[^}]*route="none"/);
    expect(metrics).not.toMatch(/471[12]/);
  });
});
