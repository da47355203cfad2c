import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@almanac/testkit/eventually';
import type { Trunk } from './trunk.ts';
import { askForTrunk, asksForTrunk, offersTrunks, offerTrunk, type Trunks, takeTrunks } from './trunk-http.ts';

let server: Server;
let trunks: Trunks;
let origin: string;
let handle: (req: IncomingMessage, res: ServerResponse) => void;

beforeEach(async () => {
  handle = (req, res) => void text(req).then((body) => res.end(`${req.method} ${req.url} ${body}`));
  server = createServer({ shouldUpgradeCallback: asksForTrunk }, (req, res) => {
    offerTrunk(req, res, 5_000);
    handle(req, res);
  });
  trunks = takeTrunks(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  trunks.destroy();
  await new Promise((resolve) => server.close(resolve));
});

async function givenTrunk(): Promise<Trunk> {
  const trunk = await askForTrunk(origin, 10_000);
  if (!trunk) throw new Error('There was no trunk.');
  return trunk;
}

async function ask(trunk: Trunk, method: string, path: string, body = '') {
  const asking = request({ method, path, createConnection: () => trunk.open() });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

it('an answer on a connection of its own offers trunks, one over a strand does not', async () => {
  const direct = await fetch(origin);
  expect(offersTrunks(direct.headers.get('upgrade') ?? undefined)).toBe(true);
  await direct.text();
  const trunk = await givenTrunk();
  const { status, headers, body } = await ask(trunk, 'POST', '/things?a=1', 'Ägypten');
  expect([status, body, headers.upgrade]).toEqual([200, 'POST /things?a=1 Ägypten', undefined]);
  trunk.destroy();
});

it('who asks for another protocol is answered as if he had not, or told so by an older Node', async () => {
  const ask = async () => {
    const asking = request(origin, { headers: { Connection: 'Upgrade', Upgrade: 'h2c' }, agent: false }).end();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    asking.destroy();
    return answer.statusCode;
  };
  expect(await ask()).toBe(200);
  (server as { shouldUpgradeCallback?: unknown }).shouldUpgradeCallback = () => true;
  expect(await ask()).toBe(400);
});

it('who asks and breaks off harms nobody', async () => {
  (server as { shouldUpgradeCallback?: unknown }).shouldUpgradeCallback = () => true;
  for (const protocol of ['h2c', 'almanac-strands']) {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    const asked = once(server, 'upgrade');
    socket.write(`GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`);
    await asked;
    socket.resetAndDestroy();
  }
  expect((await fetch(origin)).status).toBe(200);
});

it('a strand is no way to another trunk', async () => {
  const trunk = await givenTrunk();
  const asking = request({
    createConnection: () => trunk.open(),
    headers: { Connection: 'Upgrade', Upgrade: 'almanac-strands' },
  }).end();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  answer.resume();
  trunk.destroy();
});

it('an offer leaves the connection as kept as it was, and is not made where it ends', async () => {
  const headersOf = async (connection: string) => {
    const asking = request(origin, { headers: { connection }, agent: false }).end();
    const [{ headers }] = (await once(asking, 'response')) as [IncomingMessage];
    asking.destroy();
    return [headers.connection, headers['keep-alive'], headers.upgrade];
  };
  expect(await headersOf('keep-alive')).toEqual(['keep-alive, upgrade', 'timeout=5', 'almanac-strands']);
  expect(await headersOf('close')).toEqual(['close', undefined, undefined]);
});

it('what was answered before a server stops arrives', async () => {
  const trunk = await givenTrunk();
  const answered: ServerResponse[] = [];
  handle = (_req, res) => answered.push(res);
  const asked = Array.from({ length: 40 }, (_, i) => ask(trunk, 'POST', `/${i}`));
  await eventually(() => expect(answered).toHaveLength(40));
  const sent = answered.map((res) => once(res, 'finish'));
  for (const res of answered) res.end('x'.repeat(20_000));
  await Promise.all(sent);
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  trunks.end();
  for (const { status, body } of await Promise.all(asked)) expect([status, body.length]).toEqual([200, 20_000]);
  await closed;
});

it('a server that knows of no trunks, says nothing, or is not there gives none', async () => {
  const plain = createServer((_req, res) => res.end('{}'));
  const silent = createServer(() => {});
  const asked = [plain, silent].map(async (other) => {
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    return askForTrunk(`http://127.0.0.1:${(other.address() as AddressInfo).port}`, 500);
  });
  expect(await Promise.all([...asked, askForTrunk('http://127.0.0.1:1', 500)])).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  for (const other of [plain, silent]) {
    other.closeAllConnections();
    other.close();
  }
});

it('a server that stops answers what it has begun, then lets its trunks go', async () => {
  const held: ServerResponse[] = [];
  handle = (_req, res) => void held.push(res);
  const [busy, idle] = await Promise.all([givenTrunk(), givenTrunk()]);
  const answer = ask(busy, 'GET', '/slow');
  await eventually(() => expect(held).toHaveLength(1));
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  trunks.end();
  await eventually(() => expect(idle.isUsable).toBe(false));
  held[0]?.setHeader('Connection', 'close').end('at last');
  expect((await answer).body).toBe('at last');
  await closed;
  expect(await askForTrunk(origin, 500)).toBeUndefined();
});

it('a client that goes away is seen by who answers it', async () => {
  const gone = new Promise<boolean>((resolve) => {
    handle = (_req, res) => void res.on('close', () => resolve(res.writableFinished));
  });
  const trunk = await givenTrunk();
  const strand = trunk.open();
  strand.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => expect(trunk.size).toBe(1));
  setTimeout(() => strand.destroy(), 20);
  expect(await gone).toBe(false);
  trunk.destroy();
});
