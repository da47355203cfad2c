// Failures between the gateway and a service, byte by byte, and clients that disconnect. The client
// gets an error or a closed connection, a request that may have been executed is never repeated,
// and nothing stays open.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { callWith, type TestGateway } from '../given.ts';
import { useNeighbours } from '../neighbours.ts';
import { lines, open, send } from '../raw.ts';

const { identity, startGateway, onEnd } = useNeighbours();
let data: RawService;
let gateway: TestGateway;
let token: string;
let auth: string;
beforeAll(async () => {
  token = await identity.token();
  auth = `Authorization: Bearer ${token}`;
});
beforeEach(async () => {
  data = await givenRawService();
  gateway = await startGateway({ upstreams: { data: data.url, jobs: data.url }, keepMs: 600_000 });
  onEnd(data.close);
});

type RawService = {
  url: string;
  /** The heads of the calls it received, in order. */
  heads: string[];
  sockets: Set<Socket>;
  /** How many bytes of bodies it received. */
  bodyBytes: number;
  /** Handles the head of a call; `nth` counts the calls of one connection. */
  answer: (socket: Socket, nth: number) => void;
  close(): Promise<void>;
};

/** A service that answers raw bytes, valid or not. It always passes its health check. */
async function givenRawService(): Promise<RawService> {
  const server = createServer((socket) => {
    let text = '';
    let nth = 0;
    raw.sockets.add(socket);
    socket.on('close', () => raw.sockets.delete(socket)).on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const isHead = /^(?:GET|HEAD|POST|PATCH|PUT|DELETE) \//.test(text);
      if (!isHead) raw.bodyBytes += chunk.length;
      const end = text.indexOf('\r\n\r\n');
      if (!isHead || end === -1) {
        if (!isHead) text = '';
        return;
      }
      const head = text.slice(0, end);
      raw.bodyBytes += text.length - end - 4;
      text = '';
      if (head.includes(' /healthz ')) return void socket.end(answerOf('{}', 'Connection: close'));
      nth += 1;
      raw.heads.push(head);
      raw.answer(socket, nth);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const raw: RawService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heads: [],
    sockets: new Set(),
    bodyBytes: 0,
    answer: (socket) => void socket.write(answerOf('{}')),
    close: () => {
      for (const socket of raw.sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return raw;
}

const answerOf = (body: string, ...headers: string[]) =>
  lines('HTTP/1.1 200 OK', 'Content-Type: application/json', `Content-Length: ${body.length}`, ...headers) + body;

const path = '/api/v1/table_data/1?table_definition_id=1';
const call = (method = 'GET', init: RequestInit = {}) => callWith(gateway, token, method, path, init);
const write = () => call('PATCH', { body: '{"a":1}', headers: { 'content-type': 'application/json' } });
const request = (method: string, ...headers: string[]) =>
  lines(`${method} ${path} HTTP/1.1`, 'Host: a', auth, 'Connection: close', ...headers);

const unavailable = {
  status: 503,
  body: refusal('Service unavailable', 'unavailable', 'The data service is not available; retry later.'),
};
const statusAndBody = async (answer: Response) => ({ status: answer.status, body: await answer.json() });

/** No request is in flight any more, at the gateway or at the service. */
async function expectNothingLeft(): Promise<void> {
  await eventually(async () => {
    const text = await gateway.metrics();
    expect(text).toMatch(/^almanac_gateway_requests_in_flight\S* 0$/m);
    expect(text).toMatch(/^almanac_gateway_service_requests_in_flight\{(?=[^}]*upstream="data")\S* 0$/m);
  });
}

describe('an invalid answer', () => {
  it.each([
    ['garbage', 'hello, who is there?\r\n\r\n'],
    ['no status', lines('HTTP/1.1 OK', 'Content-Length: 0')],
    ['a status below 100', lines('HTTP/1.1 042 Odd', 'Content-Length: 0')],
    ['two lengths', `${lines('HTTP/1.1 200 OK', 'Content-Length: 1', 'Content-Length: 2')}ab`],
    ['a length and chunks', `${lines('HTTP/1.1 200 OK', 'Content-Length: 3', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
    ['a malformed header', lines('HTTP/1.1 200 OK', 'Content-Length: 0', 'what is this')],
    ['an upgrade that was not requested', lines('HTTP/1.1 101 Go', 'Connection: upgrade', 'Upgrade: websocket')],
    ['a head without an end', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}`],
  ])('(%s) is a 503, and the next call is served', async (_case, bytes) => {
    data.answer = (socket) => void socket.write(bytes);
    for (const answer of [await call(), await write()]) expect(await statusAndBody(answer)).toEqual(unavailable);
    data.answer = (socket) => void socket.write(answerOf('{}'));
    expect((await call()).status).toBe(200);
    await expectNothingLeft();
  });

  it.each([
    ['by its length', answerOf('x'.repeat(10)).slice(0, -5)],
    ['in chunks', `${lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked')}5\r\nhello\r\n`],
    ['in a broken chunk', `${lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked')}5\r\nhello\r\nwhat?\r\n`],
  ])('that ends early (%s) is never passed off as complete', async (_case, bytes) => {
    data.answer = (socket) => void socket.end(bytes);
    const answer = await send(gateway, request('GET'));
    expect([answer.status, answer.closed]).toEqual([200, true]);
    const body = answer.text.slice(answer.text.indexOf('\r\n\r\n') + 4);
    expect(/content-length: 10\r/i.test(answer.text) ? body.length : body.endsWith('0\r\n\r\n')).not.toBe(
      /content-length: 10\r/i.test(answer.text) ? 10 : true,
    );
    expect(data.heads).toHaveLength(1);
    await expectNothingLeft();
  });

  it('that is longer than its Content-Length is cut there, and its connection is not reused', async () => {
    data.answer = (socket) => void socket.write(`${answerOf('{}')}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"evil"`);
    for (let i = 0; i < 5; i += 1) expect(await (await call()).text()).toBe('{}');
    await expectNothingLeft();
  });
});

describe('an answer', () => {
  const answered = async (bytes: string, method = 'GET') => {
    data.answer = (socket) => void socket.write(bytes, 'latin1');
    const { text } = await send(gateway, request(method));
    const end = text.indexOf('\r\n\r\n');
    return { head: text.slice(0, end).toLowerCase(), body: text.slice(end + 4) };
  };

  it('loses hop-by-hop headers, and those that show the software of the service', async () => {
    const { head } = await answered(
      answerOf('{}', 'Keep-Alive: timeout=5', 'Server: nginx', 'X-Powered-By: x', 'Proxy-Connection: x', 'X-Kept: yes'),
    );
    expect(head).toContain('x-kept: yes');
    for (const removed of ['timeout=', 'nginx', 'powered', 'proxy-']) expect(head).not.toContain(removed);
    expect(head.match(/^connection: .*/gm)).toEqual(['connection: close']);
  });

  it('keeps repeated headers, and the bytes of their values', async () => {
    const { head } = await answered(answerOf('{}', 'Set-Cookie: a=1', 'Set-Cookie: b=2', 'X-Name: caf\u00e9'));
    expect(head.match(/^set-cookie: .*/gm)).toEqual(['set-cookie: a=1', 'set-cookie: b=2']);
    expect(head).toContain('x-name: caf\u00e9');
  });

  it.each([[256], [16_384], [16_385], [300_000]])('of %i arbitrary bytes arrives unchanged', async (length) => {
    const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 7 + (i >> 8)) & 255));
    data.answer = (socket) =>
      void socket.write(Buffer.concat([Buffer.from(lines('HTTP/1.1 200 OK', `Content-Length: ${length}`)), bytes]));
    expect(Buffer.from(await (await call()).arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('is forwarded after an informational response, which is not', async () => {
    const early = lines('HTTP/1.1 103 Early Hints', 'Link: </a>; rel=preload');
    const { head, body } = await answered(early + answerOf('{"a":1}'));
    expect([head.split('\r\n')[0], body]).toEqual(['http/1.1 200 ok', '{"a":1}']);
    expect(head).not.toContain('preload');
  });

  it('without a length ends when the service closes the connection', async () => {
    data.answer = (socket) => void socket.end(`${lines('HTTP/1.1 200 OK')}all of it`);
    expect(await (await call()).text()).toBe('all of it');
  });

  it('in chunks is forwarded without its trailers', async () => {
    const chunks = lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', 'Trailer: X-Late');
    const { head, body } = await answered(`${chunks}2\r\n{}\r\n0\r\nX-Late: 1\r\n\r\n`);
    expect(head).toContain('transfer-encoding: chunked');
    expect(body).toBe('2\r\n{}\r\n0\r\n\r\n');
    expect(head + body).not.toMatch(/late/i);
  });

  it.each([
    ['HEAD', answerOf('12345').slice(0, -5), 'content-length: 5'],
    ['GET', lines('HTTP/1.1 204 No Content'), 'http/1.1 204 no content'],
    ['GET', lines('HTTP/1.1 304 Not Modified', 'ETag: "1"'), 'etag: "1"'],
  ])('to %s without a body has none, and its connection is reused', async (method, bytes, expected) => {
    for (let i = 0; i < 3; i += 1) {
      const { head, body } = await answered(bytes, method);
      expect(head).toContain(expected);
      expect(body).toBe('');
    }
    expect(data.heads).toHaveLength(3);
    expect(data.sockets.size).toBe(1);
  });
});

describe('a kept-alive connection that breaks as it is reused', () => {
  // The first call of each connection is answered, the second is not; `resetAndDestroy` sends a
  // RST, `end` a FIN.
  const breakSecondCall = (how: (socket: Socket) => void) => {
    data.answer = (socket, nth) => void (nth === 1 ? socket.write(answerOf('{}')) : how(socket));
  };
  const ways: [string, (socket: Socket) => void][] = [
    ['reset', (socket) => socket.resetAndDestroy()],
    ['closed', (socket) => socket.end()],
  ];

  it.each(ways)('(%s) does not fail a GET, which is retried once over a new connection', async (_how, way) => {
    data.answer = (socket) => void socket.write(answerOf('{}'));
    const count = 5;
    await Promise.all(Array.from({ length: count }, () => call()));
    await eventually(() => expect(data.sockets.size).toBeGreaterThan(1));
    const old = new Set(data.sockets);
    data.answer = (socket) => (old.has(socket) ? way(socket) : void socket.write(answerOf('{}')));
    for (let i = 0; i < count; i += 1) expect((await call()).status).toBe(200);
    expect(data.heads.length).toBeLessThanOrEqual(3 * count); // each twice at most
  });

  it.each(ways)('(%s) never causes a retry of a write, with or without a body', async (_how, way) => {
    breakSecondCall(way);
    let sent = 0;
    for (const change of [write, () => call('PATCH')]) {
      expect((await change()).status).toBe(200);
      expect(await statusAndBody(await change())).toEqual(unavailable);
      sent += 2;
      expect(data.heads).toHaveLength(sent);
    }
  });

  it('causes one retry of a read', async () => {
    data.answer = (socket) => socket.resetAndDestroy();
    expect(await statusAndBody(await call())).toEqual(unavailable);
    expect(data.heads).toHaveLength(2);
  });

  it('causes no retry of a read that has a body, or whose answer has begun', async () => {
    data.answer = (socket) => socket.resetAndDestroy();
    expect((await send(gateway, `${request('GET', 'Content-Length: 2')}{}`)).status).toBe(503);
    expect(data.heads).toHaveLength(1);
    data.answer = (socket) => void socket.write(answerOf('12345').slice(0, -2), () => socket.resetAndDestroy());
    await call()
      .then((answer) => answer.text())
      .catch(() => {});
    expect(data.heads).toHaveLength(2);
  });
});

it('a connection that was idle for a while is closed', async () => {
  const impatient = await startGateway({ upstreams: { data: data.url }, keepMs: 50 });
  data.answer = (socket) => void socket.write(answerOf('{}'));
  expect((await callWith(impatient, token, 'GET', '/api/v1/table_data/1?table_definition_id=1')).status).toBe(200);
  expect(data.heads).toHaveLength(1);
  await eventually(() => expect(data.sockets.size).toBe(0));
});

async function untilStable(read: () => number): Promise<void> {
  let before = Number.NaN;
  await eventually(() => {
    const now = read();
    const isStable = now === before;
    before = now;
    expect(isStable).toBe(true);
  });
}

describe('a large body', () => {
  const megabyte = Buffer.alloc(1_000_000, 'x');

  it('of a request is read only as fast as the service reads it, and arrives complete', async () => {
    const pieces = 60;
    let service: Socket | undefined;
    data.answer = (socket) => {
      service = socket.pause();
    };
    const client = open(gateway);
    const length = `Content-Length: ${pieces * megabyte.length}`;
    client.write(lines('PUT /api/v1/imports/1/tables/1/file HTTP/1.1', 'Host: a', auth, length));
    for (let i = 0; i < pieces; i += 1) client.write(megabyte);
    await eventually(() => expect(service).toBeDefined());
    await untilStable(() => client.writableLength);
    expect(client.writableLength).toBeGreaterThan(0);
    service?.resume();
    await eventually(() => expect(data.bodyBytes).toBe(pieces * megabyte.length));
    service?.write(answerOf('{}'));
    client.end();
    await new Promise((resolve) => client.resume().on('close', resolve));
    await expectNothingLeft();
  });

  it('of an answer waits for a slow client, and arrives complete', async () => {
    const pieces = 60;
    let written = 0;
    data.answer = (socket) => {
      socket.write(lines('HTTP/1.1 200 OK', `Content-Length: ${pieces * megabyte.length}`));
      const more = () => {
        if (written === pieces) return;
        written += 1;
        socket.write(megabyte, more); // one at a time, as fast as the gateway reads them
      };
      more();
    };
    const socket = open(gateway).pause();
    socket.write(request('GET'));
    await eventually(() => expect(written).toBeGreaterThan(0));
    await untilStable(() => written);
    expect(written).toBeLessThan(pieces);
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    await new Promise((resolve) => socket.resume().on('close', resolve));
    expect(bytes).toBeGreaterThan(pieces * megabyte.length);
    await expectNothingLeft();
  });
});

describe('a client that disconnects', () => {
  const many = 25;
  type Stage = {
    what: string;
    bytes: () => string;
    answer: RawService['answer'];
    when: (sockets: Socket[]) => unknown;
  };
  const nothing = () => {};
  const reached = () => expect(data.heads).toHaveLength(many);
  const stages: Stage[] = [
    { what: 'before it was forwarded', bytes: () => request('GET'), answer: nothing, when: nothing },
    { what: 'waiting for the answer', bytes: () => request('GET'), answer: nothing, when: reached },
    {
      what: 'in the middle of its body',
      bytes: () => `${request('PATCH', 'Content-Length: 100')}{"a":`,
      answer: nothing,
      when: reached,
    },
    {
      what: 'in the middle of a chunked body',
      bytes: () => `${request('PATCH', 'Transfer-Encoding: chunked')}5\r\n{"a":\r\n`,
      answer: nothing,
      when: reached,
    },
    {
      what: 'in the middle of the answer',
      bytes: () => request('GET'),
      answer: (socket) => void socket.write(answerOf('x'.repeat(1_000)).slice(0, -1)),
      when: (sockets) => expect(sockets.every(({ bytesRead }) => bytesRead > 0)).toBe(true),
    },
    {
      what: 'during an answer that it does not read',
      bytes: () => request('GET'),
      answer: (socket) => void socket.write(answerOf('x'.repeat(2_000_000)).slice(0, -1)),
      when: reached,
    },
  ];

  it.each(stages)('$what aborts its request, and nothing stays open', async ({ what, bytes, answer, when }) => {
    data.answer = answer;
    const sockets = Array.from({ length: many }, () => {
      const socket = open(gateway);
      if (what.includes('not read')) socket.pause();
      else socket.resume();
      socket.write(bytes());
      return socket;
    });
    await eventually(() => when(sockets));
    for (const socket of sockets) socket.destroy();
    await expectNothingLeft();
    await eventually(() => expect(data.sockets.size).toBe(0));
    data.answer = (socket) => void socket.write(answerOf('{}'));
    expect((await call()).status).toBe(200);
  });
});

/** A client's connection with a call that has sent five of the ten bytes of its body. */
function givenHalfACall() {
  const socket = open(gateway);
  const given = { socket, text: '', head: lines(`PATCH ${path} HTTP/1.1`, 'Host: a', auth, 'Content-Length: 10') };
  socket.on('data', (chunk) => {
    given.text += chunk;
  });
  socket.write(`${given.head}12345`);
  return given;
}

it('an answer that precedes the end of the body is forwarded, and the client can reuse its connection', async () => {
  data.answer = (socket) => void socket.write(answerOf('{"early":1}'));
  const client = givenHalfACall();
  await eventually(() => expect(client.text).toContain('{"early":1}'));
  client.socket.write(`67890${client.head}12345`);
  await eventually(() => expect(client.text.match(/"early"/g)).toHaveLength(2));
  client.socket.destroy();
  await expectNothingLeft();
});

it('a service that disconnects before the end of the body is a 503, and the client can reuse its connection', async () => {
  data.answer = (socket) => void socket.destroy();
  const client = givenHalfACall();
  await eventually(() => expect(client.text).toContain(unavailable.body.errors[0]));
  expect(client.text).toMatch(/^HTTP\/1\.1 503 /);
  data.answer = (socket) => void socket.write(answerOf('{"late":1}'));
  client.socket.write(`67890${client.head}1234567890`);
  await eventually(() => expect(client.text).toContain('{"late":1}'));
  client.socket.destroy();
  await expectNothingLeft();
});
