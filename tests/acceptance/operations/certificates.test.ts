// TLS between all services of a running system, for gRPC and HTTP: no connection without a
// certificate is served, and key, certificate and authority are exchanged under steady calls
// without a failed one.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import type { Api } from '@almanac/api-client/api';
import { type ContextSigner, createContextSigner } from '@almanac/service-kit/caller/call-context';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createRpcClient } from '@almanac/service-kit/rpc/client';
import { type ServiceTls, watchServiceTls } from '@almanac/service-kit/tls/service-tls';
import { eventually } from '@almanac/testkit/eventually';
import { type MountedFiles, mountFiles } from '@almanac/testkit/files/mounted-files';
import { type Authority, type Certificate, createAuthority } from '@almanac/testkit/network/certificate';
import { type Account, type DeployedTable, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';
import { type RunningSystem, startSystem, systemHomeName } from '@almanac/testkit/system/system';

const services = ['identity', 'metadata', 'data', 'jobs', 'billing'] as const;
const names = ['127.0.0.1', 'localhost', 'gateway', ...services, 'operator'];

const before = createAuthority();
const old = before.issue({ names });
const open: (() => unknown)[] = [];
let files: MountedFiles;
let system: RunningSystem;
let addresses: Record<string, string>;
let httpAddresses: Record<string, string>;
let watched: ServiceTls;
let sign: ContextSigner;
let account: Account;
let api: Api;
let table: DeployedTable;

const asFiles = (authorities: Authority[], { cert, key }: Certificate) => ({
  'tls.crt': cert,
  'tls.key': key,
  'ca.crt': authorities.map((each) => each.cert).join(''),
});

function watch(mounted: MountedFiles): ServiceTls {
  const paths = { cert: mounted.path('tls.crt'), key: mounted.path('tls.key'), ca: mounted.path('ca.crt') };
  const found = watchServiceTls(paths, createLogger('test', 'silent'));
  open.push(() => found.stop());
  return found;
}

beforeAll(async () => {
  files = mountFiles(asFiles([before], old));
  const env = {
    ALMANAC_RPC_TLS_CERT_FILE: files.path('tls.crt'),
    ALMANAC_RPC_TLS_KEY_FILE: files.path('tls.key'),
    ALMANAC_RPC_TLS_CA_FILE: files.path('ca.crt'),
    ALMANAC_HTTP_TLS: 'true',
  };
  system = await startSystem({ env });
  Object.assign(process.env, env, { ALMANAC_BASE_URL: system.baseUrl, [systemHomeName]: system.home });
  const read = (name: string) => JSON.parse(readFileSync(join(system.home, name), 'utf8'));
  ({ rpc: addresses, http: httpAddresses } = read('runtime.json'));
  sign = await createContextSigner('operator', read('secrets.json').context_keys.operator);
  watched = watch(files);
  // A deployment takes most questions that services have: rights, plans, tables, calls.
  account = await givenAccount({ plan: 'enterprise' });
  api = await account.person();
  table = await givenDeployedTable(api, { columns: [{ name: 'code', data_type: 'string', length: 40 }] });
});
afterAll(async () => {
  for (const close of open.toReversed()) close();
  await system?.stop();
  files?.remove();
});

function asOperator<N extends 'identity' | 'data' | 'billing'>(service: N, secured?: ServiceTls) {
  const made = createRpcClient(service, addresses[service] as string, sign, secured);
  open.push(() => made.close());
  return made.client;
}

/**
 * Connects to a service and returns the certificate it shows; throws when the service refuses ours.
 */
async function handshake(service: string, ca: Authority[], own?: Certificate): Promise<string> {
  const [host, port] = (addresses[service] as string).split(':');
  const authorities = ca.map(({ cert }) => cert);
  const socket = tls.connect({ host, port: Number(port), ca: authorities, ...own, ALPNProtocols: ['h2'] });
  try {
    // A server refuses after the handshake is done on this side; an accepted HTTP/2 connection
    // begins with the server's settings.
    await new Promise((resolve, reject) => {
      socket.once('data', resolve).once('error', reject);
      socket.once('close', () => reject(new Error('the server has closed the connection')));
    });
    return socket.getPeerX509Certificate()?.toString() ?? '';
  } finally {
    socket.destroy();
  }
}

/** Calls a service by HTTPS over a connection of its own. */
async function askByHttps(service: string, path: string, ca: Authority[], own?: Certificate) {
  const [host, port] = (httpAddresses[service] as string).split(':');
  const options = { host, port, path, agent: false as const, ca: ca.map(({ cert }) => cert), ...own };
  const [answer] = (await once(request(options).end(), 'response')) as [IncomingMessage];
  const certificate = (answer.socket as tls.TLSSocket).getPeerX509Certificate()?.toString();
  return { status: answer.statusCode, certificate, body: await text(answer) };
}

it('every service serves its health by HTTPS, and the rest to the gateway alone', async () => {
  for (const service of services) {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect(await askByHttps(service, path, [before])).toMatchObject({ status: 200, certificate: old.cert });
    const other = before.issue({ names: ['127.0.0.1', ...services, 'operator'] });
    for (const path of ['/api/v1/domains', '/openapi.json', '/login']) {
      expect(await askByHttps(service, path, [before])).toMatchObject({ status: 403 });
      expect(await askByHttps(service, path, [before], other)).toMatchObject({
        status: 403,
        body: expect.stringContaining('The certificate of the connection is not one of gateway.'),
      });
    }
    await expect(askByHttps(service, '/healthz', [before], createAuthority().issue({ names }))).rejects.toThrow();
    expect(await askByHttps(service, '/openapi.json', [before], old)).toMatchObject({ status: 200 });
    await expect(fetch(`http://${httpAddresses[service]}/healthz`)).rejects.toThrow();
  }
  expect((await fetch(`${system.baseUrl}/openapi.json`)).status).toBe(200);
});

it('every service shows its certificate and refuses connections without one', async () => {
  for (const service of services) {
    expect(await handshake(service, [before], old)).toBe(old.cert);
    await expect(handshake(service, [before])).rejects.toThrow();
    await expect(handshake(service, [before], createAuthority().issue({ names }))).rejects.toThrow();
  }
  const plain = asOperator('billing').GetAccountBilling({ accountId: account.id }, {});
  await expect(plain).rejects.toMatchObject({ kind: 'unavailable' });
});

it('key, certificate and authority are exchanged under steady calls, and none of these fails', async () => {
  const after = createAuthority();
  const fresh = after.issue({ names });
  const [identity, data, billing] = [
    asOperator('identity', watched),
    asOperator('data', watched),
    asOperator('billing', watched),
  ];
  const caller = { accountId: account.id };
  const failures: unknown[] = [];
  let done = 0;
  let isOver = false;
  const lane = async (call: () => Promise<unknown>) => {
    while (!isOver) {
      await call().catch((error) => failures.push(error));
      done += 1;
    }
  };
  let written = 0;
  const running = [
    lane(() => identity.GetAccount(caller, {})),
    lane(() => data.CountRows(caller, { table_definition_ids: [table.id] })),
    lane(() => billing.GetAccountBilling(caller, {})),
    lane(() => api.get('/account')), // identity asks billing
    lane(() => api.get('/permissions')),
    lane(async () => {
      const record = { code: `c${written}` };
      await api.post('/table_data', { table_definition_id: table.id, record });
      written += 1;
    }),
  ];
  const waitForMoreCalls = () => {
    const wanted = done + 60;
    return eventually(() => expect(done).toBeGreaterThanOrEqual(wanted));
  };
  // The gateway serves no TLS that could be inspected, so its log shows the change.
  const changesAtGateway = () =>
    readFileSync(join(system.home, 'logs', 'gateway.log'), 'utf8').split('whom it trusts, has changed').length - 1;
  const everywhere = (check: (service: string) => Promise<unknown>) =>
    Promise.all(services.map((service) => eventually(() => check(service))));

  try {
    await waitForMoreCalls();
    files.replace(asFiles([before, after], old));
    await everywhere((service) => handshake(service, [before], after.issue({ names })));
    await eventually(() => expect(changesAtGateway()).toBe(1));
    await waitForMoreCalls();
    files.replace(asFiles([before, after], fresh));
    await everywhere(async (service) => expect(await handshake(service, [before, after], old)).toBe(fresh.cert));
    await everywhere(async (service) =>
      expect(await askByHttps(service, '/healthz', [after])).toMatchObject({ certificate: fresh.cert }),
    );
    await eventually(() => expect(changesAtGateway()).toBe(2));
    await waitForMoreCalls();
    // A process that keeps the old key, and a connection from before.
    const kept = mountFiles(asFiles([before, after], old));
    open.push(() => kept.remove());
    const left = asOperator('billing', watch(kept));
    await left.GetAccountBilling(caller, {});
    files.replace(asFiles([after], fresh));
    await everywhere((service) => expect(handshake(service, [after], old)).rejects.toThrow());
    await everywhere((service) => expect(askByHttps(service, '/healthz', [after], old)).rejects.toThrow());
    await eventually(() => expect(left.GetAccountBilling(caller, {})).rejects.toMatchObject({ kind: 'unavailable' }));
    await waitForMoreCalls();
  } finally {
    isOver = true;
    await Promise.all(running);
  }
  expect(failures).toEqual([]);
  const rows = await api.get<{ meta: { total_count: number } }>(
    `/table_data?table_definition_id=${table.id}&per_page=1`,
  );
  expect(rows.meta.total_count).toBe(written);
  console.log(`${done} calls`);
});
