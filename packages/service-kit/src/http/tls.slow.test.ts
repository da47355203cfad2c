import { once } from 'node:events';
import { type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http';
import { Agent, type AgentOptions, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { eventually } from '@almanac/testkit/eventually';
import { mountFiles } from '@almanac/testkit/files/mounted-files';
import { type Authority, type Certificate, createAuthority } from '@almanac/testkit/network/certificate';
import { createContextVerifier } from '../caller/call-context.ts';
import { ConfigError, ConfigReader, readCommonConfig } from '../config/config.ts';
import { Health } from '../observability/health.ts';
import { createLogger } from '../observability/logger.ts';
import { createMetrics } from '../observability/metrics.ts';
import { createHttpServer } from '../process/http-server.ts';
import { watchServiceTls } from '../tls/service-tls.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const asFiles = (authorities: Authority[], own: Certificate) => ({
  'tls.crt': own.cert,
  'tls.key': own.key,
  'ca.crt': authorities.map(({ cert }) => cert).join(''),
});

async function givenServer(authority: Authority, own = authority.issue()) {
  const files = mountFiles(asFiles([authority], own));
  open.push(() => files.remove());
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  const paths = { cert: files.path('tls.crt'), key: files.path('tls.key'), ca: files.path('ca.crt') };
  const tls = watchServiceTls(paths, logger);
  open.push(() => tls.stop());
  const held: ServerResponse[] = [];
  const server = createHttpServer({
    service: 'data',
    host: '127.0.0.1',
    port: 0,
    tls,
    health: new Health(),
    metrics: createMetrics(),
    routes: [],
    logger,
    verifyContext: createContextVerifier({ keys: [] }),
    mount: (app) => {
      app.get('/page', (_req, res) => void res.send('a page'));
      app.get('/held', (_req, res) => void held.push(res));
      app.get('/begun', (_req, res) => {
        res.write('begun, ');
        held.push(res);
      });
    },
  });
  const port = await server.start();
  open.push(() => server.stop());
  return { port, files, held, log: () => lines.join('') };
}

/** A client that keeps a connection, with a certificate if it is given one. */
function givenClient(port: number, authority: Authority, own?: Certificate) {
  const options: AgentOptions = { keepAlive: true, maxSockets: 1, ca: authority.cert, ...own };
  const agent = new Agent(options);
  open.push(() => agent.destroy());
  const begin = async (path: string) => {
    const sent = request({ port, host: '127.0.0.1', path, agent }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer;
  };
  const ask = async (path: string) => {
    const answer = await begin(path);
    const socket = answer.socket as TLSSocket;
    const { statusCode: status, headers } = answer;
    const certificate = socket.getPeerX509Certificate()?.toString();
    return { status, connection: headers.connection, body: await text(answer), socket, certificate };
  };
  return { ask, begin };
}

const gateway = ['gateway', 'gateway.almanac.svc'];
const forbidden = {
  status: 403,
  connection: 'close',
  body: expect.stringContaining('The certificate of the connection is not one of gateway.'),
};

describe('HTTP of a service by TLS', () => {
  it('answers the gateway, and encrypts with TLS 1.2 or newer alone', async () => {
    const authority = createAuthority();
    const { port } = await givenServer(authority);
    for (const names of [gateway, ['gateway'], ['127.0.0.1', 'gateway.default.svc']]) {
      const { ask } = givenClient(port, authority, authority.issue({ names }));
      expect(await ask('/page')).toMatchObject({ status: 200, body: 'a page', connection: 'keep-alive' });
      const { socket } = await ask('/api/v1/none');
      expect(socket.getProtocol()).toMatch(/^TLSv1\.[23]$/);
    }
    const plain = plainRequest({ port, host: '127.0.0.1', path: '/healthz' }).end();
    await expect(once(plain, 'response')).rejects.toThrow();
    const old = request({
      port,
      path: '/healthz',
      ca: authority.cert,
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
    }).end();
    await expect(once(old, 'response')).rejects.toThrow();
  });

  it('tells those without a certificate health and metrics, and nothing else', async () => {
    const authority = createAuthority();
    const { port } = await givenServer(authority);
    const { ask } = givenClient(port, authority);
    for (const path of ['/healthz', '/metrics?x=1']) expect(await ask(path)).toMatchObject({ status: 200 });
    expect((await ask('/readyz')).body).toContain('"ready"');
    for (const path of ['/page', '/api/v1/things', '/openapi.json', '/healthz/', '/none'])
      expect(await ask(path)).toMatchObject(forbidden);
  });

  it('refuses the certificate of another service, and what only looks like the gateway', async () => {
    const authority = createAuthority();
    const { port } = await givenServer(authority);
    for (const names of [['billing'], ['operator'], ['mygateway', 'x.gateway'], ['gateway-2']])
      expect(await givenClient(port, authority, authority.issue({ names })).ask('/page')).toMatchObject(forbidden);
  });

  it('makes no connection for a certificate that is not trusted or has expired, and says so', async () => {
    const authority = createAuthority();
    const { port, log } = await givenServer(authority);
    const wrong = [createAuthority().issue({ names: gateway }), authority.issue({ names: gateway, days: -1 })];
    for (const own of wrong) await expect(givenClient(port, authority, own).ask('/healthz')).rejects.toThrow();
    expect(log()).toContain('its certificate is not trusted');
    expect(log()).toContain('CERT_HAS_EXPIRED');
  });

  it('takes new files while it runs, and goes on over the connections it has', async () => {
    const authority = createAuthority();
    const { port, files } = await givenServer(authority);
    const own = authority.issue({ names: gateway });
    const kept = givenClient(port, authority, own);
    const before = await kept.ask('/page');
    const renewed = authority.issue();
    files.replace(asFiles([authority], renewed));
    await eventually(async () =>
      expect(await givenClient(port, authority, own).ask('/page')).toMatchObject({ certificate: renewed.cert }),
    );
    expect((await kept.ask('/page')).socket).toBe(before.socket);
  });

  it('ends the connections of an authority that was withdrawn, after the calls under way', async () => {
    const [authority, after] = [createAuthority(), createAuthority()];
    const own = authority.issue({ names: gateway });
    const { port, files, held, log } = await givenServer(authority);
    const [kept, waiting, reading, idle] = Array.from({ length: 4 }, () => givenClient(port, authority, own));
    await kept?.ask('/page');
    const { socket: unused } = (await idle?.ask('/page')) ?? {};
    const answer = waiting?.ask('/held');
    const stream = await reading?.begin('/begun');
    const streaming = stream?.socket;
    await eventually(() => expect(held).toHaveLength(2));

    files.replace(asFiles([after], authority.issue()));
    await eventually(() => expect(log()).toContain('has changed'));
    // One more answer says that the connection ends; the next one needs another handshake.
    expect(await kept?.ask('/page')).toMatchObject({ status: 200, connection: 'close' });
    await expect(kept?.ask('/page')).rejects.toThrow();
    await eventually(() => expect(unused?.destroyed).toBe(true));
    for (const res of held) res.end('done');
    expect(await answer).toMatchObject({ status: 200, connection: 'close', body: 'done' });
    expect(stream && (await text(stream))).toBe('begun, done');
    await eventually(() => expect(streaming?.destroyed).toBe(true));
  }, 60_000);
});

it('needs the files of gRPC', () => {
  const read = new ConfigReader({ ALMANAC_HTTP_TLS: 'true' });
  readCommonConfig(read, 'data');
  expect(() => read.finish({})).toThrow(ConfigError);
  expect(read.problems).toContain(
    'ALMANAC_HTTP_TLS is true, which needs ALMANAC_RPC_TLS_CERT_FILE, ALMANAC_RPC_TLS_KEY_FILE, ALMANAC_RPC_TLS_CA_FILE.',
  );
});
