// Services over TLS: the certificates of both sides, and files that change at run time.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { type ServiceTls, watchServiceTls } from '@almanac/service-kit/tls/service-tls';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { type MountedFiles, mountFiles } from '@almanac/testkit/files/mounted-files';
import { type Authority, type Certificate, createAuthority } from '@almanac/testkit/network/certificate';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import { readConfig } from '../../src/config.ts';
import {
  type FakeBilling,
  type FakeIdentity,
  type FakeServices,
  givenBilling,
  givenIdentity,
  givenServices,
} from '../fakes.ts';
import { callWith, givenGateway, type TestGateway } from '../given.ts';

const authority = createAuthority();
const own = authority.issue({ names: ['gateway'] });
const asFiles = (authorities: Authority[], { cert, key }: Certificate) => ({
  'tls.crt': cert,
  'tls.key': key,
  'ca.crt': authorities.map((each) => each.cert).join(''),
});
const pathsOf = (files: MountedFiles) => ({
  cert: files.path('tls.crt'),
  key: files.path('tls.key'),
  ca: files.path('ca.crt'),
});

let keys: TestKeys;
let database: TestDatabase;
let identity: FakeIdentity;
let billing: FakeBilling;
let services: FakeServices;
let token: string;
let rpcFiles: MountedFiles;
let rpcTls: ServiceTls;
const open: (() => unknown)[] = [];

beforeAll(async () => {
  [keys, database, services] = await Promise.all([createTestKeys(), createTestDatabase('gateway'), givenServices()]);
  // A gateway with certificates uses TLS for gRPC as well.
  rpcFiles = mountFiles(asFiles([authority], authority.issue()));
  rpcTls = watchServiceTls(pathsOf(rpcFiles), createLogger('test', 'silent'));
  [identity, billing] = await Promise.all([givenIdentity(keys, services, rpcTls), givenBilling(keys, rpcTls)]);
  token = await identity.token();
});
afterAll(async () => {
  await Promise.all([identity?.close(), billing?.close(), services?.close()]);
  rpcTls?.stop();
  rpcFiles?.remove();
  await database?.drop();
});
beforeEach(() => {
  services.reached.length = 0;
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/**
 * A service at an https:// URL. It forwards to the fake services; keys come from the fake identity.
 */
async function givenTlsService(certificate: Certificate, trusted = [authority]) {
  const shown: (string | undefined)[] = [];
  const sockets = new Set<TLSSocket>();
  const server: Server = createServer({
    ...certificate,
    ca: trusted.map(({ cert }) => cert),
    requestCert: true,
    keepAliveTimeout: 300_000, // the gateway closes connections
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    shown.push(socket.getPeerX509Certificate()?.toString());
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', async (req, res) => {
    if (req.url === '/.well-known/jwks.json') res.end(await (await fetch(`${identity.url}${req.url}`)).text());
    else if (req.url === '/openapi.json') res.end('{"paths":{"/by_tls":{}}}');
    else services.take(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, shown, sockets };
}

async function given(upstreams: Record<string, string>): Promise<TestGateway & { files: MountedFiles }> {
  const files = mountFiles(asFiles([authority], own));
  const fakes = { keys, database, identity, billing, services };
  const gateway = await givenGateway(fakes, { upstreams, common: { rpcTls: pathsOf(files) } });
  open.push(async () => {
    await gateway.stop();
    files.remove();
  });
  return { ...gateway, files };
}

const atData = (gateway: TestGateway, init?: RequestInit) =>
  callWith(gateway, token, init?.method ?? 'GET', '/api/v1/table_data/1?table_definition_id=1', init);
const dataNames = ['data', 'data.almanac.svc'];

/** The gateway refuses the call in the contract's form, and logs the cause. */
async function expectRefused(gateway: TestGateway, cause: string) {
  const answer = await atData(gateway);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await answer.json()).toEqual(
    refusal('Service unavailable', 'unavailable', 'The data service is not available; retry later.'),
  );
  expect(gateway.log()).toContain(cause);
}

it('calls, keys and documents of a service go over TLS, with the certificate of the gateway', async () => {
  const names = ['identity', 'metadata', 'data', 'jobs', 'billing'];
  const all = await Promise.all(names.map((name) => givenTlsService(authority.issue({ names: [name] }))));
  const gateway = await given(Object.fromEntries(all.map(({ url }, i) => [names[i], url])));
  expect((await atData(gateway)).status).toBe(200);
  const body = 'x'.repeat(1_000_000);
  const headers = { 'content-type': 'application/json' };
  expect((await atData(gateway, { method: 'PATCH', body, headers })).status).toBe(200);
  expect(services.reached.map((each) => [each.method, each.body.length])).toEqual([
    ['GET', 0],
    ['PATCH', body.length],
  ]);
  expect(all[2]?.shown).toHaveLength(1); // the connection is kept
  const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(paths)).toContain('/by_tls');
  for (const { shown } of all) expect(new Set(shown)).toEqual(new Set([own.cert]));
  expect(all.every(({ shown }) => shown.length > 0)).toBe(true);
});

it.each([
  ['is of another service', () => authority.issue({ names: ['jobs', '127.0.0.1'] }), 'is not one of data'],
  [
    'is of another authority',
    () => createAuthority().issue({ names: dataNames }),
    'unable to verify the first certificate',
  ],
  ['has expired', () => authority.issue({ names: dataNames, days: -1 }), 'certificate has expired'],
])(
  'a service whose certificate %s gets no request: the call is 503, and the log has the cause',
  async (_case, issue, cause) => {
    const data = await givenTlsService(issue());
    await expectRefused(await given({ data: data.url }), cause);
    expect(services.reached).toEqual([]);
  },
);

it('a service that does not trust the gateway is a 503', async () => {
  const data = await givenTlsService(authority.issue({ names: dataNames }), [createAuthority()]);
  await expectRefused(await given({ data: data.url }), 'a service did not answer');
});

it('a service without TLS at an https:// address is a 503', async () => {
  await expectRefused(await given({ data: services.url.replace('http:', 'https:') }), 'does not speak TLS');
});

it('new files apply to new connections, and connections of a withdrawn authority close', async () => {
  const after = createAuthority();
  const data = await givenTlsService(authority.issue({ names: dataNames }), [authority, after]);
  const moved = await givenTlsService(after.issue({ names: ['metadata'] }), [authority, after]);
  const gateway = await given({ data: data.url, metadata: moved.url });
  const atMetadata = async () => (await callWith(gateway, token, 'GET', '/api/v1/domains')).status;
  expect((await atData(gateway)).status).toBe(200);
  expect(await atMetadata()).toBe(503);

  const renewed = after.issue({ names: ['gateway'] });
  gateway.files.replace(asFiles([authority, after], renewed));
  await eventually(async () => expect(await atMetadata()).toBe(200));
  expect(moved.shown).toEqual([renewed.cert]);
  expect((await atData(gateway)).status).toBe(200);
  expect(data.shown).toEqual([own.cert]);

  // A call in flight still gets its answer.
  const held: (() => void)[] = [];
  services.answer((_req, res) => void held.push(() => res.end('{}')));
  const inFlight = atData(gateway);
  await eventually(() => expect(held).toHaveLength(1));
  services.answer(undefined);
  gateway.files.replace(asFiles([after], renewed));
  await eventually(async () => expect((await atData(gateway)).status).toBe(503));
  for (const answer of held) answer();
  expect((await inFlight).status).toBe(200);
  await eventually(() => expect(data.sockets.size).toBe(0));
  expect((await atData(gateway)).status).toBe(503);
  expect(await atMetadata()).toBe(200);
});

it('an https:// URL requires the certificate files', () => {
  const names = 'ALMANAC_RPC_TLS_CERT_FILE, ALMANAC_RPC_TLS_KEY_FILE, ALMANAC_RPC_TLS_CA_FILE';
  expect(() => readConfig({ DATA_URL: 'https://data-http:8083' })).toThrow(
    `DATA_URL is https://, which needs ${names}.`,
  );
  expect(() => readConfig({ DATA_URL: 'https://data-http:8083/x' })).toThrow('DATA_URL should be http://host:port or');
});
