import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { givenBilling } from '../fakes.ts';
import { callWith, type TestGateway } from '../given.ts';
import { useNeighbours } from '../neighbours.ts';
import { lines, open, send } from '../raw.ts';

const { keys, services, identity, billing, useGateway, startGateway } = useNeighbours();
const gateway = useGateway();
const impatient = useGateway({
  timeouts: { headersMs: 1_500, idleMs: 1_500, clientMs: 1_500, readMs: 1_500, writeMs: 1_500, sweepMs: 100 },
});
let token: string;
let auth: string;
beforeAll(async () => {
  token = await identity.token();
  auth = `Authorization: Bearer ${token}`;
});

describe('slow clients', () => {
  it.each([
    ['send nothing', ''],
    ['send half a head', 'GET /api/v1/domains HTTP/1.1\r\nHost: a\r\n'],
  ])('are disconnected when they %s', async (_case, bytes) => {
    const answer = await send(impatient, bytes);
    expect(answer.closed).toBe(true);
    expect([0, 408]).toContain(answer.status);
  });

  it('are disconnected when their connection stays idle', async () => {
    const answer = await send(impatient, lines('GET /healthz HTTP/1.1', 'Host: a'));
    expect([answer.status, answer.closed]).toEqual([200, true]);
    expect(answer.text).toContain('Connection: keep-alive');
  });

  it('are disconnected when they send half a body, and nothing stays open upstream', async () => {
    const head = lines('POST /api/v1/domains HTTP/1.1', 'Host: a', auth, 'Content-Length: 100');
    const many = await Promise.all(Array.from({ length: 50 }, () => send(impatient, `${head}{"a":`)));
    expect(many.every(({ closed }) => closed)).toBe(true);
    expect(services.reached).toEqual([]);
    await eventually(async () => expect(await requestsInFlight(impatient)).toBe(0));
  });

  it('are disconnected when their upload makes too little progress', async () => {
    const head = lines('PUT /api/v1/imports/1/tables/1/file HTTP/1.1', 'Host: a', auth, 'Content-Length: 100000');
    const socket = open(impatient);
    let closed = false;
    socket.on('close', () => {
      closed = true;
    });
    socket.write(head);
    const sending = setInterval(() => socket.write('x'), 50);
    await eventually(() => expect(closed).toBe(true));
    clearInterval(sending);
  });

  it('are disconnected when they do not read the answer', async () => {
    const large = 'x'.repeat(30_000_000);
    services.answer((_req, res) => res.end(large));
    const socket = open(impatient);
    socket.pause();
    socket.write(lines('GET /api/v1/domains HTTP/1.1', 'Host: a', auth));
    await eventually(() => expect(services.reached).toHaveLength(1));
    await eventually(async () => expect(await requestsInFlight(impatient)).toBe(0));
    socket.destroy();
  });

  it('do not keep others from being served', async () => {
    const slow = Array.from({ length: 200 }, () => {
      const socket = open(gateway);
      socket.write('POST /api/v1/domains HTTP/1.1\r\nHost: a\r\n');
      return socket;
    });
    expect((await callWith(gateway, token, 'GET', '/api/v1/domains')).status).toBe(200);
    for (const socket of slow) socket.destroy();
  });
});

async function requestsInFlight(of: TestGateway): Promise<number> {
  return Number(/^almanac_gateway_requests_in_flight\{service="gateway"\} (\d+)/m.exec(await of.metrics())?.[1]);
}

describe('clients that disconnect', () => {
  it('abort their upstream requests: 200 of them leave no socket open', async () => {
    services.answer(() => {}); // never answers
    const before = services.sockets.size;
    const clients = Array.from({ length: 200 }, () => {
      const abort = new AbortController();
      const answer = callWith(gateway, token, 'GET', '/api/v1/domains', { signal: abort.signal }).catch(
        () => undefined,
      );
      return { abort, answer };
    });
    await eventually(() => expect(services.reached).toHaveLength(200));
    for (const { abort } of clients) abort.abort();
    await Promise.all(clients.map(({ answer }) => answer));
    await eventually(() => expect(services.sockets.size).toBeLessThanOrEqual(before));
    await eventually(async () => expect(await requestsInFlight(gateway)).toBe(0));
    services.answer(undefined);
    expect((await callWith(gateway, token, 'GET', '/api/v1/domains')).status).toBe(200);
  });

  it('in the middle of a body leave no request and no socket', async () => {
    const before = services.sockets.size;
    const head = lines('POST /api/v1/domains HTTP/1.1', 'Host: a', auth, 'Content-Length: 100');
    const sockets = Array.from({ length: 50 }, () => {
      const socket = open(gateway);
      socket.write(`${head}{"a":`);
      return socket;
    });
    await eventually(() => expect(services.sockets.size).toBeGreaterThanOrEqual(50));
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect(services.sockets.size).toBeLessThanOrEqual(before));
    expect(services.reached).toEqual([]);
  });

  it('in the middle of an answer leave no socket', async () => {
    services.answer((_req, res) => {
      res.write('x'.repeat(100_000));
      // and never ends
    });
    const before = services.sockets.size;
    const clients = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const abort = new AbortController();
        await callWith(gateway, token, 'GET', '/api/v1/domains', { signal: abort.signal });
        return abort;
      }),
    );
    for (const abort of clients) abort.abort();
    await eventually(() => expect(services.sockets.size).toBeLessThanOrEqual(before));
    await eventually(async () => expect(await requestsInFlight(gateway)).toBe(0));
  });
});

describe('unreachable services', () => {
  it('are a 503 with Retry-After that is not counted', async () => {
    const books = await givenBilling(keys); // the other gateways of this file still report their calls
    const partial = await startGateway({ upstreams: { metadata: 'http://127.0.0.1:1' }, billingRpc: books.rpc });
    for (const method of ['GET', 'POST'])
      expect(await describeAnswer(await callWith(partial, token, method, '/api/v1/domains'))).toEqual([
        503,
        '1',
        refusal('Service unavailable', 'unavailable', 'The metadata service is not available; retry later.'),
      ]);
    await partial.stop();
    await books.close();
    expect(books.reserved()).toBe(0);
    expect(books.calls()).toBe(0);
  });

  it('that disconnect cause one retry of a read and none of a write', async () => {
    let times = 0;
    services.answer((req, res) => {
      times += 1;
      if (times === 1) return req.socket.destroy();
      res.end('{}');
    });
    expect((await callWith(gateway, token, 'GET', '/api/v1/domains')).status).toBe(200);
    times = 0;
    expect((await callWith(gateway, token, 'POST', '/api/v1/domains', { body: '{}' })).status).toBe(503);
    expect(times).toBe(1);
  });

  it('that take too long are a 503', async () => {
    services.answer(() => {});
    const before = services.sockets.size;
    const answers = await Promise.all(
      ['GET', 'POST'].map((method) => callWith(impatient, token, method, '/api/v1/domains')),
    );
    expect(answers.map((answer) => answer.status)).toEqual([503, 503]);
    await eventually(() => expect(services.sockets.size).toBeLessThanOrEqual(before));
  });

  it('that abort an answer cause the connection of the client to close', async () => {
    services.answer((req, res) => {
      res.writeHead(200, { 'content-length': '1000' });
      res.write('x');
      setImmediate(() => req.socket.destroy());
    });
    const answer = await callWith(gateway, token, 'GET', '/api/v1/domains');
    await expect(answer.text()).rejects.toThrow();
  });

  it('that refuse a body early have their answer forwarded', async () => {
    services.answer((_req, res) => res.writeHead(413).end('{}'));
    const answer = await callWith(gateway, token, 'POST', '/api/v1/domains', { body: 'x'.repeat(500_000) });
    expect(answer.status).toBe(413);
  });
});

async function describeAnswer(answer: Response): Promise<unknown[]> {
  return [answer.status, answer.headers.get('retry-after'), await answer.json()];
}

it('a gateway that stops lets running calls finish and reports them', async () => {
  const stopping = await startGateway();
  services.hold();
  const own = await identity.token({ application_id: 4242 });
  const answer = callWith(stopping, own, 'GET', '/api/v1/domains');
  await eventually(() => expect(services.held).toHaveLength(1));
  const stopped = stopping.stop();
  services.release();
  expect((await answer).status).toBe(200);
  expect((await answer).headers.get('connection')).toBe('close');
  await stopped;
  const booked = billing.booked.filter(({ application }) => application === 4242);
  expect(booked).toMatchObject([{ calls: 1, method: 'GET', resource: 'domains' }]);
});
