import { eventually } from '@almanac/testkit/eventually';
import { exportJWK, generateKeyPair } from 'jose';
import { z } from 'zod';
import { idTextSchema, nameSchema } from '../src/api/input.ts';
import { route } from '../src/api/route.ts';
import {
  type CallContext,
  type ContextSigner,
  createContextSigner,
  createContextVerifier,
} from '../src/caller/call-context.ts';
import { ServiceError } from '../src/errors.ts';
import { JsonText } from '../src/http/json-text.ts';
import { limits } from '../src/limits.ts';
import type { AuditAct } from '../src/messaging/audit.ts';
import { Health } from '../src/observability/health.ts';
import { createLogger } from '../src/observability/logger.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createHttpServer, type HttpServer } from '../src/process/http-server.ts';

const base = { tag: 'Things', summary: 'A thing', description: 'One of many things.' };
const thing = route({
  ...base,
  method: 'PATCH',
  path: '/things/{id}',
  params: { id: idTextSchema },
  attributes: { name: nameSchema },
  resource: 'thing',
  handle: async ({ params, attributes, call }) => {
    if (params.id === 404) throw new ServiceError('not_found', { code: 'not_found', message: 'Thing not found' });
    return { id: params.id, account: call.accountId, ...attributes() };
  },
});
const routes = [
  thing,
  route({
    ...base,
    method: 'GET',
    path: '/things',
    query: { branch_id: idTextSchema.optional() },
    handle: async ({ query }) => new JsonText(JSON.stringify(query)),
  }),
  route({
    ...base,
    method: 'PUT',
    path: '/things/by_key',
    query: { key: z.record(z.string(), z.string()) },
    mayCreate: true,
    response: z.object({}),
    handle: async ({ query: { key } }) => new JsonText(JSON.stringify(key), 'new' in key ? 201 : undefined),
  }),
  route({
    ...base,
    method: 'POST',
    path: '/things',
    body: { count: z.number().int() },
    status: 201,
    handle: async ({ body }) => body(),
  }),
  route({
    ...base,
    method: 'DELETE',
    path: '/things/{id}',
    params: { id: idTextSchema },
    status: 204,
    handle: async () => undefined,
  }),
  route({ ...base, method: 'POST', path: '/people', user: true, handle: async () => ({}) }),
  route({ ...base, method: 'POST', path: '/forks', branching: true, handle: async () => ({}) }),
  route({ ...base, method: 'POST', path: '/proposals', user: true, branching: true, handle: async () => ({}) }),
  route({
    ...base,
    method: 'POST',
    path: '/things/{id}/lock',
    params: { id: idTextSchema },
    handle: () => Promise.reject(new ServiceError('forbidden', { code: 'missing_right', message: 'You need a key.' })),
  }),
  route({
    ...base,
    method: 'POST',
    path: '/things/{id}/open',
    params: { id: idTextSchema },
    refusal: { lid: z.string().optional() },
    handle: () =>
      Promise.reject(
        new ServiceError(
          'wrong_state',
          { code: 'wrong_state', message: 'It is nailed up.' },
          { facts: { lid: 'oak' } },
        ),
      ),
  }),
  route({
    ...base,
    method: 'GET',
    path: '/time',
    handle: async ({ call: { answerBy } }) => ({ left: answerBy === undefined ? null : answerBy - performance.now() }),
  }),
  route({ ...base, method: 'GET', path: '/broken', handle: () => Promise.reject(new Error('select * from secrets')) }),
];

describe('HTTP server of a service', () => {
  let server: HttpServer;
  let sign: ContextSigner;
  let url: string;
  const logged: string[] = [];
  const refused: { call: CallContext; act: AuditAct }[] = [];
  let canRecord = true;
  const health = new Health();

  beforeAll(async () => {
    const pair = await generateKeyPair('EdDSA', { extractable: true });
    const open = { ...(await exportJWK(pair.publicKey)), kid: 'gateway', alg: 'EdDSA' };
    sign = await createContextSigner('gateway', await exportJWK(pair.privateKey));
    server = createHttpServer({
      service: 'things',
      host: '127.0.0.1',
      port: 0,
      tls: undefined,
      health,
      metrics: createMetrics(),
      routes,
      logger: createLogger('things', 'info', { write: (line) => void logged.push(line) }),
      verifyContext: createContextVerifier({ keys: [open] }),
      onRefused: async (call, act) => {
        if (!canRecord) throw new Error('nowhere to write');
        refused.push({ call, act });
      },
    });
    url = `http://127.0.0.1:${await server.start()}`;
  });
  afterAll(() => server.stop());

  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const context = await sign({ accountId: 7, scopes: ['api'], branching: false }, 'things:http');
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        'x-almanac-context': context,
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const received = await answer.text();
    return { status: answer.status, headers: answer.headers, body: received === '' ? undefined : JSON.parse(received) };
  }

  it('reads path and attributes in every form a body may have', async () => {
    for (const body of [{ thing: { name: 'a' } }, { name: 'a' }, { 'thing[name]': 'a' }])
      expect(await send('PATCH', '/things/5', body)).toMatchObject({
        status: 200,
        body: { id: 5, account: 7, name: 'a' },
      });
  });

  it('answers 404 before it checks the body', async () => {
    expect(await send('PATCH', '/things/404', { thing: { name: '' } })).toMatchObject({
      status: 404,
      body: {
        error: 'Not found',
        errors: ['Thing not found'],
        problems: [{ code: 'not_found', message: 'Thing not found' }],
      },
    });
  });

  it.each([
    ['a broken rule', { name: ' ' }, 422, 'Validation failed', { code: 'blank', field: 'name' }],
    ['a wrong type', { name: 1 }, 400, 'Bad request', { code: 'wrong_type', field: 'name' }],
    ['an unknown property', { name: 'a', uuid: 'x' }, 400, 'Bad request', { code: 'unknown_property', field: 'uuid' }],
    ['a body that is no object', [1], 400, 'Bad request', { code: 'wrong_type' }],
    ['broken JSON', '{"name":', 400, 'Bad request', { code: 'malformed' }],
  ])('answers %s', async (_name, body, status, error, problem) => {
    const answer = await send('PATCH', '/things/5', body);
    expect(answer).toMatchObject({ status, body: { error } });
    expect(answer.body.errors).toHaveLength(1);
    expect(answer.body.problems).toEqual([{ ...problem, message: answer.body.errors[0] }]);
  });

  it('adds the facts that the refusal of a route declares', async () => {
    const { status, body } = await send('POST', '/things/5/open');
    const problems = [{ code: 'wrong_state', message: 'It is nailed up.' }];
    expect([status, body]).toEqual([422, { error: 'Wrong state', errors: ['It is nailed up.'], problems, lid: 'oak' }]);
    const { paths, components } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, { post: unknown }>;
      components: { schemas: Record<string, unknown> };
    };
    expect(paths['/api/v1/things/{id}/open']?.post).toMatchObject({
      responses: {
        400: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
        422: { content: { 'application/json': { schema: { $ref: '#/components/schemas/OpenThingRefusal' } } } },
      },
    });
    expect(components.schemas.OpenThingRefusal).toMatchObject({
      required: ['error', 'errors', 'problems'],
      properties: { lid: { type: 'string' } },
      additionalProperties: false,
    });
  });

  it('refuses unknown and repeated query parameters', async () => {
    expect((await send('GET', '/things?branch_id=3')).body).toEqual({ branch_id: 3 });
    expect((await send('GET', '/things?brnch_id=3')).status).toBe(400);
    expect((await send('GET', '/things?branch_id=3&branch_id=4')).status).toBe(400);
  });

  it('reads a parameter that is an object', async () => {
    const put = (query: string) => send('PUT', `/things/by_key?${query}`);
    expect(await put('key[a]=1%2C2&key[b%5D]=&key%5Bc[%5D=x')).toMatchObject({
      status: 200,
      body: { a: '1,2', 'b]': '', 'c[': 'x' },
    });
    expect((await put('key[new]=1')).status).toBe(201);
    for (const wrong of ['', 'key=a', 'key[a]=1&key=a', 'key[a]=1&key[a]=2', 'key[a]=1&other[a]=1', 'key[a=1', '[a]=1'])
      expect([wrong, (await put(wrong)).status]).toEqual([wrong, 400]);
    expect((await send('GET', '/things?branch_id[a]=3')).status).toBe(400);
  });

  it('refuses a query that is no text, and accepts the replacement character', async () => {
    for (const query of ['a=%00', 'a%00=1', 'branch_id=%ff', 'a=1&a=%ed%a0%80'])
      expect((await send('GET', `/things?${query}`)).body.errors).toEqual([expect.stringMatching(/^The query /)]);
    expect((await send('GET', '/things?branch_id=%EF%BF%BD')).body.errors).toEqual([
      expect.stringMatching(/^branch_id /),
    ]);
  });

  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'application/json; charset=utf-16'])(
    'refuses a body of type %s',
    async (type) => {
      expect((await send('POST', '/things', '{"count":1}', { 'content-type': type })).status).toBe(415);
    },
  );

  it('refuses a compressed body', async () => {
    expect((await send('POST', '/things', '{"count":1}', { 'content-encoding': 'gzip' })).status).toBe(415);
  });

  it('takes a body of exactly the limit and not a byte more', async () => {
    const padded = (size: number) => `{"count":1}${' '.repeat(size - 11)}`;
    expect((await send('POST', '/things', padded(limits.jsonBodyBytes))).status).toBe(201);
    expect((await send('POST', '/things', padded(limits.jsonBodyBytes + 1))).status).toBe(413);
  });

  it('asks for a user and for branching where the route needs them', async () => {
    const person = await send('POST', '/people');
    expect(person).toMatchObject({ status: 401, body: { error: expect.stringContaining('authorization code') } });
    // The token is valid: with `invalid_token`, a client would get another one of the same kind.
    expect(person.headers.get('www-authenticate')).toBe('Bearer realm="almanac"');
    expect(await send('POST', '/forks')).toMatchObject({
      status: 403,
      body: { error: 'Branching is not enabled on the current plan' },
    });
    // The check of the caller comes before that of the plan.
    expect((await send('POST', '/proposals')).status).toBe(401);
  });

  it('records a missing right for the audit log, and answers 403 even if that fails', async () => {
    const headers = { 'x-forwarded-for': '6.6.6.6, 192.0.2.1', 'x-request-id': 'request-0002' };
    const lock = () => send('POST', '/things/5/lock', {}, headers);
    const answers = [await lock()];
    canRecord = false;
    answers.push(await lock());
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { errors: ['You need a key.'] } });
    await send('POST', '/forks'); // a limit of the plan is no missing right
    expect(refused).toEqual([
      {
        call: expect.objectContaining({ accountId: 7, address: '192.0.2.1', requestId: 'request-0002' }),
        act: {
          action: 'access.refused',
          result: 'refused',
          after: { method: 'POST', path: '/things/5/lock', errors: ['You need a key.'] },
        },
      },
    ]);
  });

  it('passes on how long the gateway waits for the answer', async () => {
    const leftWith = async (headers: Record<string, string>) =>
      (await send('GET', '/time', undefined, headers)).body.left;
    expect(await leftWith({})).toBeNull();
    expect(await leftWith({ 'x-almanac-answer-within': 'soon' })).toBeNull();
    const left = await leftWith({ 'x-almanac-answer-within': '600000' });
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(600_000);
  });

  it('trusts no call without a signed context', async () => {
    for (const context of ['', 'x.y.z'])
      expect((await send('GET', '/things', undefined, { 'x-almanac-context': context })).status).toBe(401);
  });

  it('logs the cause of an internal error under the id that the caller sees', async () => {
    const answer = await send('GET', '/broken', undefined, { 'x-request-id': 'request-0001' });
    expect(answer.status).toBe(500);
    expect(JSON.stringify(answer.body)).not.toContain('select');
    expect(answer.headers.get('x-request-id')).toBe('request-0001');
    expect(logged.some((line) => line.includes('select * from secrets') && line.includes('request-0001'))).toBe(true);
  });

  it('logs one line a request and never the context', async () => {
    const ids = ['request-0101', 'request-0102']; // a line of an earlier request may arrive late
    await send('DELETE', '/things/5', undefined, { 'x-request-id': ids[0] as string });
    await send('GET', '/nowhere', undefined, { 'x-request-id': ids[1] as string });
    const requests = () => logged.filter((line) => line.includes('"request"') && ids.some((id) => line.includes(id)));
    await eventually(() => expect(requests()).toHaveLength(2));
    expect(logged.join()).not.toContain('eyJ');
  });

  it('is ready once started, also without what calls can wait for, but not without what they need', async () => {
    const ready = async () => (await fetch(`${url}/readyz`)).status;
    expect(await ready()).toBe(503);
    health.markStarted();
    expect(await ready()).toBe(200);
    health.addInfoCheck('bus', () => {
      throw new Error('away');
    });
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ ready: true, checks: { bus: 'failed' } });
    expect(await ready()).toBe(200);
    health.addReadinessCheck('database', () => false);
    expect(await ready()).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('describes its routes', async () => {
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    expect(paths['/api/v1/things/{id}']?.patch).toMatchObject({
      operationId: 'updateThing',
      security: [{ client_credentials: ['api:write'] }, { authorization_code: ['api:write'] }],
      parameters: [
        {
          name: 'id',
          in: 'path',
          required: true,
          schema: { type: 'integer', minimum: 1 },
          description: 'The id of the thing.',
        },
      ],
      requestBody: { required: true },
      responses: { 402: expect.anything(), 413: expect.anything(), 415: expect.anything(), 422: expect.anything() },
    });
    expect(paths['/api/v1/things/by_key']?.put).toMatchObject({
      parameters: [{ name: 'key', in: 'query', required: true, style: 'deepObject', explode: true }],
      responses: { 200: expect.anything(), 201: { description: 'Created.', content: expect.anything() } },
    });
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
  });
});
