import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@almanac/testkit/eventually';
import type { Trunk } from './trunk.ts';
import { askForTrunk, offersTrunks, offerTrunk, type Trunks, takeTrunks } from './trunk-http.ts';

let server: Server;
let trunks: Trunks;
let origin: string;
let handle: (req: IncomingMessage, res: ServerResponse) => void;

beforeEach(async () => {
  handle = (req, res) => void text(req).then((body) => res.end(`${req.method} ${req.url} ${body}`));
  server = createServer((req, res) => {
    offerTrunk(req, res);
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

it('who asks for another protocol gets none', async () => {
  const asking = request(origin, { headers: { Connection: 'Upgrade', Upgrade: 'h2c' }, agent: false }).end();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  expect([answer.statusCode, answer.headers.connection]).toEqual([400, 'close']);
  asking.destroy();
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
