// Calls over strands (docs/adr/0019-trunks.md): many share one connection to a service, and none notices the others.
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '@almanac/testkit/eventually';
import { createTestKeys, type TestKeys } from '@almanac/testkit/keys';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres';
import type { UpstreamTimes } from '../src/config.ts';
import {
  callWith,
  type FakeBilling,
  type FakeIdentity,
  type FakeServices,
  givenBilling,
  givenGateway,
  givenIdentity,
  givenServices,
  type TestGateway,
} from './given.ts';
import { lines } from './raw.ts';

let keys: TestKeys;
let database: TestDatabase;
let identity: FakeIdentity;
let billing: FakeBilling;
let services: FakeServices;
let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  [keys, database] = await Promise.all([createTestKeys(), createTestDatabase('gateway')]);
  billing = await givenBilling(keys);
});
afterAll(async () => {
  await billing?.close();
  await database?.drop();
});
beforeEach(async () => {
  services = await givenServices({ takesTrunks: true });
  identity = await givenIdentity(keys, services);
  token = await identity.token();
  await begin(services.url);
});
afterEach(async () => {
  await Promise.all([gateway.stop(), identity.close(), services.close()]);
});

async function begin(data: string, upstreamTimes: Partial<UpstreamTimes> = {}) {
  const common = { keys, busUrl: database.url, identity, billingRpc: billing.rpc, services: services.url };
  gateway = await givenGateway({ ...common, config: { upstreams: { data }, upstreamTimes } });
}

/** A way to a service on which the connections there are can stop carrying anything, as when a node in between forgets them. */
async function givenFreezingPath(url: string) {
  const ends: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(Number(new URL(url).port), '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as [Socket, Socket][]) {
      ends.push(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let held: Socket[] = [];
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze: () => {
      held = [...ends];
      for (const end of held) end.pause();
    },
    thaw: () => {
      for (const end of held) end.resume();
    },
    close: () => {
      for (const end of ends) end.destroy();
      server.close();
    },
  };
}

const call = (method = 'GET', path = '/table_data/1?table_definition_id=1', init: RequestInit = {}) =>
  callWith(gateway, token, method, `/api/v1${path}`, init);
const textOf = async (answer: Promise<Response>) => (await answer).text();
const times = <T>(count: number, run: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => run(i)));

/** Calls until one of them goes over a strand. */
const untilThereIsATrunk = () =>
  eventually(async () => {
    services.strands = 0;
    expect((await call()).status).toBe(200);
    expect(services.strands).toBe(1);
  });

/** Answers each call with where it went and what it said, when all of so many are there. */
function answerTogether(count: number): void {
  const held: (() => void)[] = [];
  services.answer(({ url }, res, body) => {
    held.push(() => res.end(`${url} ${body}`));
    if (held.length === count) for (const end of held.splice(0)) end();
  });
}

it('share one connection, and each gets its own answer', async () => {
  await untilThereIsATrunk();
  const before = services.sockets.size;
  answerTogether(60);
  services.strands = 0;
  const paths = Array.from({ length: 60 }, (_, i) => `/table_data/${i + 1}?table_definition_id=1`);
  const body = (i: number) => JSON.stringify({ record: { name: `Ä${i}` } });
  const answers = await times(60, (i) =>
    textOf(
      i % 2 === 0
        ? call('GET', paths[i])
        : call('PATCH', paths[i], { body: body(i), headers: { 'content-type': 'application/json' } }),
    ),
  );
  expect(answers).toEqual(paths.map((path, i) => `/api/v1${path} ${i % 2 === 0 ? '' : body(i)}`));
  expect(services.strands).toBe(60);
  expect(services.sockets.size).toBe(before);
});

it('leave what is large, or of unknown length, to connections of its own', async () => {
  await untilThereIsATrunk();
  services.strands = 0;
  const large = JSON.stringify({ record: { name: 'x'.repeat(70_000) } });
  const headers = { 'content-type': 'application/json' };
  const stream = new Blob(['{"record":{}}']).stream();
  const init = { body: stream, headers, duplex: 'half' } as RequestInit;
  const path = '/table_data/1?table_definition_id=1';
  const answers = await Promise.all([call('PATCH', path, { body: large, headers }), call('PATCH', path, init)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(services.strands).toBe(0);
  expect(
    services.reached
      .slice(-2)
      .map(({ body }) => body.length)
      .toSorted((a, b) => a - b),
  ).toEqual([13, large.length]);
});

it('a client that hangs up ends its own call and no other', async () => {
  await untilThereIsATrunk();
  const held = new Map<string, ServerResponse>();
  services.answer(({ url = '' }, res) => void held.set(url, res));
  const leaving = new AbortController();
  const left = call('GET', '/table_data/1?table_definition_id=1', { signal: leaving.signal }).catch(() => 'left');
  const staying = textOf(call('GET', '/table_data/2?table_definition_id=1'));
  await eventually(() => expect(held.size).toBe(2));
  const [gone, kept] = ['1', '2'].map(
    (id) => held.get(`/api/v1/table_data/${id}?table_definition_id=1`) as ServerResponse,
  );
  leaving.abort();
  await eventually(() => expect(gone?.destroyed).toBe(true));
  kept?.end('still here');
  expect([await left, await staying]).toEqual(['left', 'still here']);
});

it('a client that reads slowly holds up its own answer and no other', async () => {
  await untilThereIsATrunk();
  const piece = Buffer.alloc(65_536, 'x');
  const pieces = 1_024;
  let written = 0;
  services.answer(({ url }, res) => {
    if (!url?.includes('large')) return void res.end('{}');
    const write = () => {
      while (written < pieces) {
        written += 1;
        if (!res.write(piece)) return void res.once('drain', write);
      }
      res.end();
    };
    write();
  });
  const slow = connect(gateway.port, '127.0.0.1');
  slow.write(
    lines(
      'GET /api/v1/table_data?table_definition_id=1&large=1 HTTP/1.1',
      'Host: almanac.test',
      `Authorization: Bearer ${token}`,
    ),
  );
  slow.pause();
  await eventually(() => expect(written).toBeGreaterThan(0));
  expect((await times(40, () => call())).map(({ status }) => status)).toEqual(Array(40).fill(200));
  // What the two connections and the strand hold, not what there is.
  expect(written).toBeLessThan(pieces / 2);
  let received = 0;
  slow.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  slow.resume();
  await eventually(() => expect(received).toBeGreaterThan(pieces * piece.length));
  slow.destroy();
});

it('when the trunk is lost, reads are repeated, writes are told so, and there is another one', async () => {
  await untilThereIsATrunk();
  const held: ServerResponse[] = [];
  services.answer((_req, res) => void held.push(res));
  const answers = Promise.all([call(), call('PATCH')]);
  await eventually(() => expect(held).toHaveLength(2));
  services.answer(undefined);
  for (const socket of services.sockets) socket.destroy();
  expect((await answers).map(({ status }) => status)).toEqual([200, 503]);
  expect((await call('PATCH')).status).toBe(200);
  await untilThereIsATrunk();
});

it('a trunk over which nothing comes any more is left, and the calls that wait on it keep their time', async () => {
  const frozen = await givenFreezingPath(services.url);
  await gateway.stop();
  await begin(frozen.url, { silentMs: 500, askEveryMs: 50 });
  await untilThereIsATrunk();
  frozen.freeze();
  const waiting = textOf(call('PATCH'));
  services.strands = 0;
  const begun = services.reached.length;
  await eventually(async () => {
    const answered = Promise.race([
      call().then(({ status }) => status),
      new Promise((resolve) => setTimeout(resolve, 200)),
    ]);
    expect(await answered).toBe(200);
  });
  expect(services.reached.length).toBeGreaterThan(begun);
  await untilThereIsATrunk();
  frozen.thaw();
  expect(await waiting).toBe('{}');
  await gateway.stop();
  await begin(services.url); // for afterEach
  frozen.close();
});

it('a service that says that it is leaving ends them with their answers', async () => {
  await untilThereIsATrunk();
  services.answer((_req, res) => void res.setHeader('connection', 'close').end('{}'));
  expect((await times(8, () => call())).map(({ status }) => status)).toEqual(Array(8).fill(200));
  services.answer(undefined);
  expect((await times(8, () => call())).map(({ status }) => status)).toEqual(Array(8).fill(200));
});

it('once one says that it is leaving, no call goes over a connection that it may close meanwhile', async () => {
  await untilThereIsATrunk();
  answerTogether(4);
  const large = { body: JSON.stringify('x'.repeat(70_000)), headers: { 'content-type': 'application/json' } };
  await times(4, () => call('PATCH', undefined, large));
  const known = [...services.sockets];
  expect(known.length).toBeGreaterThan(4);
  services.answer((_req, res) => void res.setHeader('connection', 'close').end('{}'));
  expect((await call('PATCH')).status).toBe(200);
  await eventually(() => expect(known.filter((socket) => services.sockets.has(socket))).toEqual([]));
});

it('a service that offers trunks and gives none, or none that works, is called without', async () => {
  const asked: string[] = [];
  const offering = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const head = bytes.toString('latin1');
      if (!/^upgrade: almanac-strands/im.test(head))
        return void socket.write(
          lines('HTTP/1.1 200 OK', 'Connection: upgrade', 'Upgrade: almanac-strands', 'Content-Length: 0'),
        );
      asked.push(head);
      socket.end(
        asked.length === 1
          ? lines('HTTP/1.1 404 Not Found', 'Connection: close', 'Content-Length: 0')
          : lines('HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: almanac-strands'),
      );
    });
  });
  await new Promise<void>((resolve) => offering.listen(0, '127.0.0.1', resolve));
  await gateway.stop();
  await begin(`http://127.0.0.1:${(offering.address() as AddressInfo).port}`);
  await eventually(async () => {
    expect((await call('PATCH')).status).toBe(200);
    expect(asked).toHaveLength(2);
  });
  await eventually(async () =>
    expect((await times(8, () => call('PATCH'))).map(({ status }) => status)).toEqual(Array(8).fill(200)),
  );
  expect(asked).toHaveLength(2);
  await gateway.stop();
  await begin(services.url); // for afterEach
  offering.close();
});
