import { Agent, createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@almanac/testkit/eventually';
import { getJson } from '../src/forwarding/get-json.ts';

const agent = new Agent({ keepAlive: true });
let server: Server;

async function startServer(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/document`;
}
afterEach(() => {
  agent.destroy();
  return new Promise((resolve) => server.close(resolve));
});

it('returns the document', async () => {
  expect(await getJson(await startServer(({ url }, res) => res.end(JSON.stringify({ url }))), agent)).toEqual({
    url: '/document',
  });
});

const endless: RequestListener = (_req, res) => {
  const send = () => {
    while (!res.destroyed && res.write(Buffer.alloc(65_536, ' ')));
  };
  res.on('drain', send);
  send();
};

it.each<[string, RequestListener, string]>([
  ['another status', (_req, res) => res.writeHead(404).end('{}'), 'answered 404'],
  ['more than 8 MiB', endless, 'more than 8388608 bytes'],
  ['no answer in three seconds', () => {}, 'aborted'],
  ['an answer that stops in the middle', (_req, res) => void res.write('{'), 'aborted'],
  ['an aborted answer', (_req, res) => void res.write('{', () => res.destroy()), 'aborted'],
  ['no JSON', (_req, res) => res.end('{'), 'JSON'],
])('throws for %s, and keeps no connection open', async (_case, answer, message) => {
  const url = await startServer(answer);
  // A busy machine takes long for 8 MiB.
  const options = answer === endless ? { timeoutMs: 60_000 } : {};
  await expect(getJson(url, agent, options)).rejects.toThrow(message);
  await eventually(() => expect(Object.keys(agent.sockets)).toEqual([]));
});
