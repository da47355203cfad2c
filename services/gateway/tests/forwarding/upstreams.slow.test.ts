// A slow or dead service does not affect the others (faults R41, R43): nothing accumulates at the
// gateway, and the service gets calls again when it is back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { eventually } from '@almanac/testkit/eventually';
import { callWith, statuses, type TestConfig, type TestGateway, times } from '../given.ts';
import { useNeighbours } from '../neighbours.ts';

const { services, identity, startGateway, onEnd } = useNeighbours();
let token: string;
let gateway: TestGateway;
beforeAll(async () => {
  token = await identity.token();
});

async function given(config: TestConfig = {}): Promise<void> {
  gateway = await startGateway(config);
}

const call = (method: string, path: string) => callWith(gateway, token, method, `/api/v1${path}`);
const atData = (method = 'GET') => call(method, '/table_data/1?table_definition_id=1');
const atMetadata = () => call('GET', '/domains');

const unavailable = [503, '1', 'Service unavailable', 1];
async function describeAnswer(answer: Response): Promise<unknown[]> {
  const { error, errors } = (await answer.json()) as { error: string; errors: string[] };
  return [answer.status, answer.headers.get('retry-after'), error, errors.length];
}

async function gauge(name: string, upstream: string): Promise<number> {
  const found = new RegExp(`^almanac_gateway_${name}\\{(?=[^}]*upstream="${upstream}")[^}]*\\} (\\d+)`, 'm');
  return Number(found.exec(await gateway.metrics())?.[1]);
}

/** A service that accepts requests and answers none until `resume`. */
async function givenHangingService() {
  const held: ServerResponse[] = [];
  const seen: string[] = [];
  let isHanging = true;
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    seen.push(req.url ?? '');
    if (isHanging) held.push(res);
    else res.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => seen.filter((url) => url.startsWith('/api/')).length,
    resume: () => {
      isHanging = false;
      for (const res of held.splice(0)) res.end('{}');
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

it('a hanging service does not affect the others, and gets calls again when it recovers', async () => {
  const data = await givenHangingService();
  await given({ upstreams: { data: data.url } });
  onEnd(data.close);
  const waiting = times(3, atData);
  await eventually(() => expect(data.calls()).toBe(3));
  expect(await gauge('service_requests_in_flight', 'data')).toBe(3);
  expect(await statuses(times(5, atMetadata))).toEqual(Array(5).fill(200));
  data.resume();
  expect(await statuses(waiting)).toEqual([200, 200, 200]);
  expect((await atData('PATCH')).status).toBe(200);
});

it('a service that was blocked for two seconds then answers all its calls (R43)', async () => {
  services.hold();
  await given({ connectMs: 10_000 });
  const answers = statuses(times(20, atData));
  await eventually(() => expect(services.held).toHaveLength(20));
  services.answer(undefined);
  const more = statuses(times(5, atData));
  const until = performance.now() + 2_000;
  while (performance.now() < until); // blocks the gateway as well
  services.release();
  expect([...(await answers), ...(await more)]).toEqual(Array(25).fill(200));
});

it('a service that accepts no connection is a 503', async () => {
  // A stopped listener with a full queue: the kernel drops further connections, as a firewall does.
  const script = `const s = require('net').createServer().listen(0, '127.0.0.1', 1, () => console.log(s.address().port))`;
  const listener = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(listener.stdout, 'data')).map(Number) as [number];
  listener.kill('SIGSTOP');
  const crowd = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  try {
    await eventually(() => expect(crowd.some(({ connecting }) => !connecting)).toBe(true));
    await given({
      upstreams: { data: `http://127.0.0.1:${port}` },
      connectMs: 3_000,
      timeouts: { readMs: 3_600_000 }, // so that connectMs ends it
    });
    // Connects without a time limit: the kernel itself gives up minutes later.
    const patient = connect(port, '127.0.0.1').on('error', () => {});
    crowd.push(patient);
    expect(await describeAnswer(await atData())).toEqual(unavailable);
    expect(patient.connecting).toBe(true);
    expect((await atMetadata()).status).toBe(200);
  } finally {
    for (const socket of crowd) socket.destroy();
    listener.kill('SIGKILL');
  }
});

describe('a service that is slow', () => {
  it('has a limit of requests in flight, which other services do not share', async () => {
    const max = 5;
    services.answer((req, res) => (req.url?.includes('/table_data') ? services.held.push(res) : res.end('{}')));
    await given({ limits: { serviceRequests: max } });
    const slow = times(max, atData);
    await eventually(() => expect(services.held).toHaveLength(max));
    expect(await describeAnswer(await atData())).toEqual(unavailable);
    expect(await statuses(times(max, atMetadata))).toEqual(Array(max).fill(200));
    services.release();
    expect(await statuses(slow)).toEqual(Array(max).fill(200));
    await eventually(async () => expect(await gauge('service_requests_in_flight', 'data')).toBe(0));
    expect(await statuses(times(max, atData))).toEqual(Array(max).fill(200));
  });

  it('can use the places of clients that disconnected', async () => {
    const max = 5;
    services.answer((req, res) => (req.url?.includes('slow') ? undefined : res.end('{}')));
    await given({ limits: { serviceRequests: max } });
    for (let round = 0; round < 3; round += 1) {
      const abort = new AbortController();
      const aborted = times(max, () =>
        callWith(gateway, token, 'GET', '/api/v1/table_data/1?slow=1', { signal: abort.signal }).catch(() => {}),
      );
      await eventually(async () => expect(await gauge('service_requests_in_flight', 'data')).toBe(max));
      abort.abort();
      await aborted;
      await eventually(async () => expect(await gauge('service_requests_in_flight', 'data')).toBe(0));
    }
    expect((await atData()).status).toBe(200);
  });
});

it('connections to a service are reused', async () => {
  await given();
  const before = services.sockets.size;
  for (let i = 0; i < 20; i += 1) expect((await atData()).status).toBe(200);
  expect(services.sockets.size).toBeLessThanOrEqual(before + 1);
});

it('idle connections are closed when the service announces that it stops', async () => {
  await given();
  services.hold();
  const answers = statuses(times(5, atData));
  await eventually(() => expect(services.held).toHaveLength(5));
  const sockets = new Set(services.held.map(({ socket }) => socket));
  expect(sockets.size).toBe(5);
  services.release();
  expect(await answers).toEqual(Array(5).fill(200));
  services.answer(({ socket }, res) => {
    sockets.delete(socket);
    res.setHeader('Connection', 'close').end('{}');
  });
  expect((await atData()).status).toBe(200);
  await eventually(() => expect([...sockets].filter((socket) => !socket?.destroyed)).toEqual([]));
  services.answer(undefined);
  expect((await atData('PATCH')).status).toBe(200);
});
