// One slow or dead service, or one replica of it, is its own trouble (faults R41, R43): what else there is goes on, nothing piles up, and it
// is used again when it is back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { eventually } from '@almanac/testkit/eventually';
import { createTestKeys, type TestKeys } from '@almanac/testkit/keys';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres';
import {
  callWith,
  type FakeBilling,
  type FakeIdentity,
  type FakeServices,
  type GatewayOptions,
  givenBilling,
  givenGateway,
  givenIdentity,
  givenServices,
  type TestGateway,
} from './given.ts';

let keys: TestKeys;
let database: TestDatabase;
let identity: FakeIdentity;
let billing: FakeBilling;
let services: FakeServices;
let token: string;
let gateway: TestGateway | undefined;

beforeAll(async () => {
  [keys, database, services] = await Promise.all([createTestKeys(), createTestDatabase('gateway'), givenServices()]);
  [identity, billing] = await Promise.all([givenIdentity(keys, services), givenBilling(keys)]);
  token = await identity.token();
});
afterAll(async () => {
  await Promise.all([identity?.close(), billing?.close(), services?.close()]);
  await database?.drop();
});
beforeEach(() => {
  services.reached.length = 0;
  services.answer(undefined);
});
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

type Given = Pick<GatewayOptions, 'config' | 'findReplicas'>;
async function given(options: Given): Promise<TestGateway> {
  const common = { keys, busUrl: database.url, identity, billingRpc: billing.rpc, services: services.url };
  gateway = await givenGateway({ ...common, ...options });
  return gateway;
}

const call = (method: string, path: string) => callWith(gateway as TestGateway, token, method, `/api/v1${path}`);
const atData = (method = 'GET') => call(method, '/table_data/1?table_definition_id=1');
const atMetadata = () => call('GET', '/domains');
const times = <T>(count: number, run: () => Promise<T>) => Promise.all(Array.from({ length: count }, run));
const statuses = async (answers: Promise<Response[]>) => (await answers).map(({ status }) => status);

const away = [503, '1', 'Service unavailable', 1];
async function describeAnswer(answer: Response): Promise<unknown[]> {
  const { error, errors } = (await answer.json()) as { error: string; errors: string[] };
  return [answer.status, answer.headers.get('retry-after'), error, errors.length];
}

async function gauge(name: string, upstream: string): Promise<number> {
  const found = new RegExp(`^almanac_gateway_${name}\\{(?=[^}]*upstream="${upstream}")[^}]*\\} (\\d+)`, 'm');
  return Number(found.exec((await gateway?.metrics()) ?? '')?.[1]);
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

// The product's patience, for a busy machine must not pass for a silent service; only the looking is quicker.
const soon = { silentMs: 3_000, askEveryMs: 50, findEveryMs: 50 };

describe('a service that says nothing any more', () => {
  it('gets no further calls, keeps nobody from the others, and is used again when it is back', async () => {
    const data = await givenCutService();
    await given({ config: { upstreams: { data: data.url }, upstreamTimes: soon } });
    try {
      const waiting = times(3, atData);
      await eventually(async () => expect(await gauge('replicas', 'data')).toBe(0));
      expect(data.calls()).toBe(3);
      const refused = await times(20, async () => describeAnswer(await atData()));
      expect(refused).toEqual(Array(20).fill(away));
      expect(data.calls()).toBe(3);
      expect(await gauge('service_requests', 'data')).toBe(3);
      expect(await statuses(times(5, atMetadata))).toEqual(Array(5).fill(200));
      data.heal();
      expect(await statuses(waiting)).toEqual([200, 200, 200]);
      await eventually(async () => expect(await gauge('replicas', 'data')).toBe(1));
      expect((await atData('PATCH')).status).toBe(200);
    } finally {
      data.heal();
      await data.close();
    }
  });

  it('is not taken for one that takes its time: callers with slow questions close it for nobody', async () => {
    services.answer(({ url }, res) => url?.includes('slow') || res.end('{}'));
    await given({ config: { upstreamTimes: soon, timeouts: { readMs: 5_000, sweepMs: 50 } } });
    const slow = times(10, () => call('GET', '/table_data/1?table_definition_id=1&slow=1'));
    expect(await statuses(slow)).toEqual(Array(10).fill(503));
    expect(await gauge('replicas', 'data')).toBe(1);
    expect((await atData('PATCH')).status).toBe(200);
  });

  it('is not taken for one that was busy for two seconds (R43)', async () => {
    const held: ServerResponse[] = [];
    services.answer((_req, res) => void held.push(res));
    await given({ config: { upstreamTimes: { ...soon, connectMs: 3_000 } } });
    const answers = statuses(times(20, atData));
    await eventually(() => expect(held).toHaveLength(20));
    services.answer(undefined);
    const more = statuses(times(5, atData));
    const until = performance.now() + 2_000;
    while (performance.now() < until); // here this stops the gateway as well
    for (const res of held) res.end('{}');
    expect([...(await answers), ...(await more)]).toEqual(Array(25).fill(200));
    expect(await gauge('replicas', 'data')).toBe(1);
  });
});

it('a service that takes no connection is a 503, and gets no further calls', async () => {
  // A listener whose queue is full and that is asleep: its kernel drops who comes next, as a firewall does.
  const script = `const s = require('net').createServer().listen(0, '127.0.0.1', 1, () => console.log(s.address().port))`;
  const listener = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(listener.stdout, 'data')).map(Number) as [number];
  listener.kill('SIGSTOP');
  const crowd = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  try {
    await eventually(() => expect(crowd.some(({ connecting }) => !connecting)).toBe(true));
    await given({
      config: {
        upstreams: { data: `http://127.0.0.1:${port}` },
        upstreamTimes: { ...soon, connectMs: 3_000 },
        timeouts: { readMs: 3_600_000 }, // not what ends it
      },
    });
    // One that waits as long as the kernel does, which ends in the same refusal minutes later.
    const patient = connect(port, '127.0.0.1').on('error', () => {});
    crowd.push(patient);
    expect(await describeAnswer(await atData())).toEqual(away);
    expect(patient.connecting).toBe(true);
    expect(await gauge('replicas', 'data')).toBe(0);
    expect((await atMetadata()).status).toBe(200);
  } finally {
    for (const socket of crowd) socket.destroy();
    listener.kill('SIGKILL');
  }
});

describe('a service that is slow', () => {
  it('has so many requests at once and not one more, and leaves the others theirs', async () => {
    const most = 5;
    const held: ServerResponse[] = [];
    services.answer((req, res) => (req.url?.includes('/table_data') ? held.push(res) : res.end('{}')));
    await given({ config: { limits: { serviceRequests: most } } });
    const slow = times(most, atData);
    await eventually(() => expect(held).toHaveLength(most));
    expect(await describeAnswer(await atData())).toEqual(away);
    expect(await statuses(times(most, atMetadata))).toEqual(Array(most).fill(200));
    for (const res of held.splice(0)) res.end('{}');
    expect(await statuses(slow)).toEqual(Array(most).fill(200));
    services.answer(undefined);
    await eventually(async () => expect(await gauge('service_requests', 'data')).toBe(0));
    expect(await statuses(times(most, atData))).toEqual(Array(most).fill(200));
  });

  it('gets the places back of clients that go away', async () => {
    const most = 5;
    services.answer((req, res) => (req.url?.includes('slow') ? undefined : res.end('{}')));
    await given({ config: { limits: { serviceRequests: most } } });
    for (let round = 0; round < 3; round += 1) {
      const abort = new AbortController();
      const gone = times(most, () =>
        callWith(gateway as TestGateway, token, 'GET', '/api/v1/table_data/1?slow=1', { signal: abort.signal }).catch(
          () => {},
        ),
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
  await given({});
  const before = services.sockets.size;
  for (let i = 0; i < 20; i += 1) expect((await atData()).status).toBe(200);
  expect(services.sockets.size).toBeLessThanOrEqual(before + 1);
});

describe('a service with several replicas', () => {
  const portOf = ({ url }: FakeServices) => new URL(url).port;
  const addresses = (...replicas: FakeServices[]) =>
    replicas.map((replica) => ({ hostname: '127.0.0.1', port: portOf(replica) }));
  let a: FakeServices;
  let b: FakeServices;

  beforeEach(async () => {
    [a, b] = await Promise.all([givenServices(), givenServices()]);
  });
  afterEach(() => Promise.all([a.close(), b.close()]));

  it('has its calls spread over them, under the name that it goes by', async () => {
    await given({ findReplicas: async () => addresses(a, b) });
    for (let i = 0; i < 20; i += 1) expect((await atData()).status).toBe(200);
    expect([a.reached.length, b.reached.length]).toEqual([10, 10]);
    expect(new Set([...a.reached, ...b.reached].map(({ headers }) => headers.host))).toEqual(
      new Set([new URL(services.url).host]),
    );
  });

  it('is there while one of them is', async () => {
    await given({ findReplicas: async () => addresses(a, b), config: { upstreamTimes: { askEveryMs: 50 } } });
    await times(10, atData);
    await a.close();
    expect(await statuses(times(20, atData))).toEqual(Array(20).fill(200));
    expect(await statuses(times(20, () => atData('PATCH')))).toEqual(Array(20).fill(200));
    expect(await gauge('replicas', 'data')).toBe(1);
  });

  it('is asked at the new one as soon as it is found, and no longer at one that is gone', async () => {
    let found = addresses(a);
    await given({ findReplicas: async () => found, config: { upstreamTimes: soon } });
    await times(10, atData);
    expect([a.reached.length, b.reached.length]).toEqual([10, 0]);
    found = addresses(b);
    await eventually(async () => {
      await atData();
      expect(b.reached.length).toBeGreaterThan(0);
    });
    const before = a.reached.length;
    await times(10, atData);
    expect(a.reached).toHaveLength(before);
  });

  it('keeps those it has while nobody knows where they are', async () => {
    let isLost = false;
    const findReplicas = async () => {
      if (isLost) throw new Error('no name server');
      return addresses(a);
    };
    await given({ findReplicas, config: { upstreamTimes: soon } });
    isLost = true;
    await times(10, atData);
    expect((await atData()).status).toBe(200);
  });

  it('gets none of its calls to one that says that it stops', async () => {
    await given({ findReplicas: async () => addresses(a, b) });
    a.answer((_req, res) => res.setHeader('Connection', 'close').end('{}'));
    await times(4, atData);
    const before = a.reached.length;
    expect(before).toBeGreaterThan(0);
    for (let i = 0; i < 10; i += 1) expect((await atData('PATCH')).status).toBe(200);
    expect(a.reached).toHaveLength(before);
    await b.close();
    expect((await atData()).status).toBe(200);
  });
});

it('a service that nobody is found of is a 503 until somebody is', async () => {
  let found: { hostname: string; port: string }[] = [];
  await given({ findReplicas: async () => found, config: { upstreamTimes: soon } });
  expect(await describeAnswer(await atData())).toEqual(away);
  found = [{ hostname: '127.0.0.1', port: new URL(services.url).port }];
  await eventually(async () => expect((await atData()).status).toBe(200));
});
