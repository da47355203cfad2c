// One slow or dead service is its own trouble (faults R41, R43): what else there is goes on, nothing piles up, and it is used
// again when it is back.
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

const away = [503, '1', 'Service unavailable', 1];
async function describeAnswer(answer: Response): Promise<unknown[]> {
  const { error, errors } = (await answer.json()) as { error: string; errors: string[] };
  return [answer.status, answer.headers.get('retry-after'), error, errors.length];
}

async function gauge(name: string, upstream: string): Promise<number> {
  const found = new RegExp(`^almanac_gateway_${name}\\{(?=[^}]*upstream="${upstream}")[^}]*\\} (\\d+)`, 'm');
  return Number(found.exec(await gateway.metrics())?.[1]);
}

/** A service that can be cut off: it takes connections and requests, and answers nothing until it is let. */
async function givenCutService() {
  const held: ServerResponse[] = [];
  const seen: string[] = [];
  let isCut = true;
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    seen.push(req.url ?? '');
    if (isCut) held.push(res);
    else res.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => seen.filter((url) => url.startsWith('/api/')).length,
    heal: () => {
      isCut = false;
      for (const res of held.splice(0)) res.end('{}');
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

it('a service that says nothing any more keeps nobody from the others, and is used again when it is back', async () => {
  const data = await givenCutService();
  await given({ upstreams: { data: data.url } });
  onEnd(data.close);
  const waiting = times(3, atData);
  await eventually(() => expect(data.calls()).toBe(3));
  expect(await gauge('service_requests', 'data')).toBe(3);
  expect(await statuses(times(5, atMetadata))).toEqual(Array(5).fill(200));
  data.heal();
  expect(await statuses(waiting)).toEqual([200, 200, 200]);
  expect((await atData('PATCH')).status).toBe(200);
});

it('a service that was busy for two seconds has answered all that came meanwhile (R43)', async () => {
  services.hold();
  await given({ connectMs: 10_000 });
  const answers = statuses(times(20, atData));
  await eventually(() => expect(services.held).toHaveLength(20));
  services.answer(undefined);
  const more = statuses(times(5, atData));
  const until = performance.now() + 2_000;
  while (performance.now() < until); // here this stops the gateway as well
  services.release();
  expect([...(await answers), ...(await more)]).toEqual(Array(25).fill(200));
});

it('a service that takes no connection is a 503', async () => {
  // A listener whose queue is full and that is asleep: its kernel drops who comes next, as a firewall does.
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
      timeouts: { readMs: 3_600_000 }, // not what ends it
    });
    // One that waits as long as the kernel does, which ends in the same refusal minutes later.
    const patient = connect(port, '127.0.0.1').on('error', () => {});
    crowd.push(patient);
    expect(await describeAnswer(await atData())).toEqual(away);
    expect(patient.connecting).toBe(true);
    expect((await atMetadata()).status).toBe(200);
  } finally {
    for (const socket of crowd) socket.destroy();
    listener.kill('SIGKILL');
  }
});

describe('a service that is slow', () => {
  it('has so many requests at once and not one more, and leaves the others theirs', async () => {
    const most = 5;
    services.answer((req, res) => (req.url?.includes('/table_data') ? services.held.push(res) : res.end('{}')));
    await given({ limits: { serviceRequests: most } });
    const slow = times(most, atData);
    await eventually(() => expect(services.held).toHaveLength(most));
    expect(await describeAnswer(await atData())).toEqual(away);
    expect(await statuses(times(most, atMetadata))).toEqual(Array(most).fill(200));
    services.release();
    expect(await statuses(slow)).toEqual(Array(most).fill(200));
    await eventually(async () => expect(await gauge('service_requests', 'data')).toBe(0));
    expect(await statuses(times(most, atData))).toEqual(Array(most).fill(200));
  });

  it('gets the places back of clients that go away', async () => {
    const most = 5;
    services.answer((req, res) => (req.url?.includes('slow') ? undefined : res.end('{}')));
    await given({ limits: { serviceRequests: most } });
    for (let round = 0; round < 3; round += 1) {
      const abort = new AbortController();
      const gone = times(most, () =>
        callWith(gateway, token, 'GET', '/api/v1/table_data/1?slow=1', { signal: abort.signal }).catch(() => {}),
      );
      await eventually(async () => expect(await gauge('service_requests', 'data')).toBe(most));
      abort.abort();
      await gone;
      await eventually(async () => expect(await gauge('service_requests', 'data')).toBe(0));
    }
    expect((await atData()).status).toBe(200);
  });
});

it('connections to a service are kept and used again', async () => {
  await given();
  const before = services.sockets.size;
  for (let i = 0; i < 20; i += 1) expect((await atData()).status).toBe(200);
  expect(services.sockets.size).toBeLessThanOrEqual(before + 1);
});

it('connections that are idle are left when the service says that it stops', async () => {
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
