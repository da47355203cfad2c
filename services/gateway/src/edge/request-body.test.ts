import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { bodyOf } from './request-body.ts';

let server: Server;
let client: Socket;
let bodies: ReturnType<typeof bodyOf>[];

beforeEach(async () => {
  bodies = [];
  // As the gateway does: what has to be looked at before is mostly known.
  server = createServer(async (req, res) => {
    await undefined;
    bodies.push(bodyOf(req));
    res.flushHeaders();
    const body = bodies.at(-1) as Buffer | Readable;
    res.end(Buffer.isBuffer(body) ? body : await buffer(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
});
afterEach(async () => {
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** Sends these parts, each when the server has seen the one before; answers what came back, and whether it was taken as a whole. */
async function send(...parts: string[]) {
  let answered = '';
  client.on('data', (bytes) => {
    answered += bytes.toString('latin1');
  });
  for (const part of parts) {
    const known = answered.length;
    client.write(part);
    if (part !== parts.at(-1)) while (answered.length === known) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await new Promise((resolve) => client.on('close', resolve));
  return { isWhole: bodies.map((body) => Buffer.isBuffer(body)), answered };
}

const head = (...lines: string[]) =>
  `${['POST / HTTP/1.1', 'Host: a', 'Connection: close', ...lines].join('\r\n')}\r\n\r\n`;

it('a short body that comes with its head is sent as it is', async () => {
  const { isWhole, answered } = await send(`${head('Content-Length: 5')}12345`);
  expect(isWhole).toEqual([true]);
  expect(answered).toContain('12345');
});

it('what is still on its way flows through', async () => {
  const { isWhole, answered } = await send(`${head('Content-Length: 5')}12`, '345');
  expect(isWhole).toEqual([false]);
  expect(answered).toContain('12345');
});

it('so does what begins after its head', async () => {
  const { isWhole, answered } = await send(head('Content-Length: 5'), '12345');
  expect(isWhole).toEqual([false]);
  expect(answered).toContain('12345');
});

it('and what comes in chunks until the last of them is there', async () => {
  const { isWhole, answered } = await send(`${head('Transfer-Encoding: chunked')}5\r\n12345\r\n`, '0\r\n\r\n');
  expect(isWhole).toEqual([false]);
  expect(answered).toContain('12345');
});
