// What becomes of a message, by how the receiver behaves and where its name leads.
import { createServer, type Server } from 'node:net';
import { accept, givenReceiver, hang, type Receiver, status } from '@almanac/testkit/messaging/webhook-receiver';
import { isAllowedByOperator, readNetworks } from '../../src/webhooks/sending/address-rules.ts';
import { resolveHost } from '../../src/webhooks/sending/hosts.ts';
import { isAccepted, type Outcome, sendMessage } from '../../src/webhooks/sending/send-message.ts';

const networks = readNetworks('127.0.0.1/32') as NonNullable<ReturnType<typeof readNetworks>>;
const none = readNetworks('') as typeof networks;
const bounds = { totalMs: 60_000, answerBytes: 64 * 1024 };
/** For receivers that let the time pass: the answer's first bytes come far within it. */
const patience = 3_000;
const late = 'There was no answer within 3 s.';
let receiver: Receiver;

beforeAll(async () => {
  receiver = await givenReceiver();
});
afterAll(() => receiver.stop());
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = accept;
});

type To = { url?: string; resolve?: typeof resolveHost; networks?: typeof networks; totalMs?: number };

const send = ({
  url = receiver.url,
  resolve = resolveHost,
  networks: reached = networks,
  totalMs = bounds.totalMs,
}: To = {}): Promise<Outcome> => {
  const body = JSON.stringify({ text: 'x' });
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length), 'webhook-id': '1' };
  return sendMessage({ url, headers, body }, { networks: reached, resolve }, { bounds: { ...bounds, totalMs } });
};

describe('a receiver that', () => {
  const closed = 'The connection was closed before an answer.';
  it.each<[string, Receiver['answer'], Partial<Outcome>, boolean]>([
    ['takes the message', accept, { status: 200, answer: 'ok' }, true],
    ['takes it without a word', status(204), { status: 204, answer: '' }, true],
    ['fails', status(500, 'oh no'), { status: 500, answer: 'oh no' }, false],
    [
      'asks to wait',
      (r) => r.writeHead(429, { 'retry-after': '120' }).end(),
      { status: 429, retryAfterMs: 120_000 },
      false,
    ],
    ['refuses', status(410), { status: 410 }, false],
    ['redirects', (r) => r.writeHead(302, { location: `${receiver.url}/2` }).end(), { status: 302 }, false],
    [
      'redirects for good',
      (r) => r.writeHead(308, { location: 'http://169.254.169.254/' }).end(),
      { status: 308 },
      false,
    ],
    ['closes early', (r) => r.destroy(), { error: closed }, false],
    ['closes within its head', (r) => r.socket?.end('HTTP/1.1 200 OK\r\nx-a'), { error: closed }, false],
    [
      'answers no HTTP',
      (r) => r.socket?.end('220 mail.example.com ESMTP\r\n'),
      { error: 'The answer is not HTTP.' },
      false,
    ],
    ['sends a head without end', endlessHead, {}, false],
    [
      'sends its head slowly',
      (r) => void setTimeout(() => r.writeHead(201).end('late'), 300),
      { status: 201, answer: 'late' },
      true,
    ],
    [
      'breaks its answer off',
      (r) => {
        r.writeHead(200, { 'content-length': '9' }).write('half');
        setTimeout(() => r.destroy(), 50);
      },
      { status: 200, answer: 'half' },
      true,
    ],
    ['answers without end', endlessBody, { status: 200 }, true],
    [
      'answers with bytes that are no text',
      (r) => r.writeHead(200).end(Buffer.from([0x61, 0, 0xff, 0x62])),
      { status: 200, answer: 'a\ufffdb' },
      true,
    ],
  ])('%s', async (_, answer, expected, accepted) => {
    receiver.answer = answer;
    const outcome = await send();
    expect(outcome).toMatchObject(expected);
    expect(isAccepted(outcome)).toBe(accepted);
    expect((outcome.answer ?? '').length).toBeLessThanOrEqual(1024);
    expect(receiver.received).toHaveLength(1); // no redirect was followed
  });

  it.each<[string, Receiver['answer'], Partial<Outcome>]>([
    ['hangs', hang, { error: late }],
    ['never ends its answer', (r) => void r.writeHead(200).write('begin'), { status: 200, answer: 'begin' }],
  ])('%s is left after the time', async (_, answer, expected) => {
    receiver.answer = answer;
    expect(await send({ totalMs: patience })).toMatchObject(expected);
  });
});

let bytesSent = 0;
function endlessBody(response: Parameters<Receiver['answer']>[0]): void {
  response.writeHead(200);
  bytesSent = 0;
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(1024))) bytesSent += 1024;
  };
  response.on('drain', more);
  more();
}
function endlessHead(response: Parameters<Receiver['answer']>[0]): void {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\n');
  const more = () => {
    for (let line = 0; line < 1000 && socket?.writable; line += 1) socket.write(`x-${line}: ${'y'.repeat(100)}\r\n`);
  };
  socket?.on('drain', more);
  more();
}

describe('a host that leads to', () => {
  const refused = 'The host leads to an address that webhooks do not reach.';
  const named = () => `http://hooks.example.com:${receiver.port}/hook`;
  it.each<[string, () => To]>([
    ['127.0.0.1', () => ({ networks: none, resolve: async () => ['127.0.0.1'], url: named() })],
    ['127.0.0.1 as an address', () => ({ networks: none })],
    ['127.0.0.1 as a number', () => ({ networks: none, url: `http://2130706433:${receiver.port}/` })],
    ['127.0.0.1 within IPv6', () => ({ url: `http://[::ffff:127.0.0.1]:${receiver.port}/` })],
    ['localhost', () => ({ networks: none, url: `http://localhost:${receiver.port}/` })],
    ['169.254.169.254', () => ({ resolve: async () => ['169.254.169.254'], url: 'https://hooks.example.com/' })],
    [
      'a public and a private address',
      () => ({ resolve: async () => ['8.8.8.8', '10.0.0.1'], url: 'https://hooks.example.com/' }),
    ],
    ['no address', () => ({ resolve: async () => [], url: 'https://hooks.example.com/' })],
    ['a public address by plain HTTP', () => ({ resolve: async () => ['8.8.8.8'], url: named() })],
  ])('%s gets nothing', async (_, to) => {
    expect(await send(to())).toMatchObject({ error: refused });
    expect(receiver.received).toEqual([]);
  });

  it('another address with each answer of DNS is reached by the checked answer alone', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['10.0.0.1']];
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return answers[asked.length - 1] as string[];
    };
    expect(await send({ url: named(), resolve })).toMatchObject({ status: 200 });
    expect(asked).toEqual(['hooks.example.com']);
    expect(await send({ url: named(), resolve })).toMatchObject({ error: refused });
    expect(isAllowedByOperator('10.0.0.1', networks)).toBe(false);
  });

  it('a name that is not in DNS, or a port without a server, fails with a sentence', async () => {
    const missing = Object.assign(new Error('secret detail'), { code: 'ENOTFOUND' });
    expect(await send({ url: named(), resolve: () => Promise.reject(missing) })).toMatchObject({
      error: 'The name of the host is not in DNS.',
    });
    const server = await new Promise<Server>((resolve) => {
      const listening = createServer().listen(0, '127.0.0.1', () => resolve(listening));
    });
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    expect(await send({ url: `http://127.0.0.1:${port}/` })).toMatchObject({ error: 'The connection was refused.' });
  });

  it('a DNS that does not answer ends in time', async () => {
    const outcome = await send({ url: named(), resolve: () => new Promise(() => {}), totalMs: patience });
    expect(outcome).toMatchObject({ error: late });
  });

  it('a server without a certificate fails, whatever it answers', async () => {
    const outcome = await send({ url: receiver.url.replace('http:', 'https:') });
    expect(outcome.error).toEqual(expect.any(String));
    expect(receiver.received).toEqual([]);
  });
});

it('of an answer without end only the bound is read', async () => {
  receiver.answer = endlessBody;
  await send();
  expect(bytesSent).toBeLessThan(16 * 1024 * 1024);
});
