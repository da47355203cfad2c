import tls from 'node:tls';
import { eventually } from '@almanac/testkit/eventually';
import { type MountedFiles, mountFiles } from '@almanac/testkit/files/mounted-files';
import { type Authority, type Certificate, createAuthority } from '@almanac/testkit/network/certificate';
import * as grpc from '@grpc/grpc-js';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { type ContextSigner, createContextSigner, createContextVerifier, type Issuer } from '../caller/call-context.ts';
import { ConfigReader, readRpcTls } from '../config/config.ts';
import { createLogger } from '../observability/logger.ts';
import { createMetrics } from '../observability/metrics.ts';
import { type ServiceTls, watchServiceTls } from '../tls/service-tls.ts';
import { type ClosableRpcClient, createRpcClient } from './client.ts';
import type { RpcHandlers } from './contract.ts';
import { createRpcServer } from './server.ts';

const caller = { accountId: 7 };
const open: (() => unknown)[] = [];
const signers = {} as Record<Issuer, ContextSigner>;
const keys: JWK[] = [];

beforeAll(async () => {
  for (const issuer of ['jobs', 'billing'] as const) {
    const pair = await generateKeyPair('EdDSA', { extractable: true });
    keys.push({ ...(await exportJWK(pair.publicKey)), kid: issuer, alg: 'EdDSA' });
    signers[issuer] = await createContextSigner(issuer, await exportJWK(pair.privateKey));
  }
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

type Trusted = { authority: Authority | Authority[]; own: Certificate };

const bundle = (authority: Authority | Authority[]) =>
  [authority]
    .flat()
    .map(({ cert }) => cert)
    .join('');
const asFiles = ({ authority, own }: Trusted) => ({
  'tls.crt': own.cert,
  'tls.key': own.key,
  'ca.crt': bundle(authority),
});

function givenTls(given: Trusted) {
  const files = mountFiles(asFiles(given));
  open.push(() => files.remove());
  const lines: string[] = [];
  const paths = { cert: files.path('tls.crt'), key: files.path('tls.key'), ca: files.path('ca.crt') };
  const watched = watchServiceTls(paths, createLogger('test', 'info', { write: (line) => void lines.push(line) }));
  open.push(() => watched.stop());
  return { tls: watched, files, log: () => lines.join('') };
}

/** A server of data's RPCs with the certificate. */
async function givenServer(own: Trusted, changed = (tls: ServiceTls) => tls) {
  const secured = givenTls(own);
  let goesOn = true;
  const handlers: Partial<RpcHandlers<'data'>> = {
    CountRows: async () => ({ counts: [] }),
    BulkRead: async function* () {
      for (let i = 0; goesOn; i = (i + 1) % 256) {
        yield { chunk: Buffer.from([i]) };
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
  const any = new Proxy(handlers, { get: (all, name) => Reflect.get(all, name) ?? (async () => ({})) });
  const server = createRpcServer({
    service: 'data',
    host: '127.0.0.1',
    port: 0,
    handlers: any as RpcHandlers<'data'>,
    callers: new Proxy({}, { get: () => ['jobs'] }) as never,
    verifyContext: createContextVerifier({ keys: keys as Record<string, unknown>[] }),
    tls: changed(secured.tls),
    logger: createLogger('data', 'silent'),
    metrics: createMetrics(),
  });
  const port = await server.start();
  open.push(() => {
    goesOn = false;
    return server.stop();
  });
  return { ...secured, port, address: `127.0.0.1:${port}` };
}

function givenClient(address: string, own: Trusted | undefined, signer: Issuer = 'jobs') {
  const secured = own && givenTls(own);
  const made = createRpcClient('data', address, signers[signer], secured?.tls);
  open.push(() => made.close());
  return { ...made, files: secured?.files as MountedFiles };
}

const count = ({ client }: ClosableRpcClient<'data'>) => client.CountRows(caller, {}, { deadlineMs: 30_000 });
const jobs = ['jobs', 'jobs.almanac.svc'];

/** The certificate that a new connection is shown. */
async function shown(port: number, { authority, own }: Trusted): Promise<string> {
  const socket = tls.connect({ port, host: '127.0.0.1', ca: bundle(authority), ...own, ALPNProtocols: ['h2'] });
  try {
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    return socket.getPeerX509Certificate()?.toString() ?? '';
  } finally {
    socket.destroy();
  }
}

describe('TLS between services', () => {
  it('lets those call who have a certificate of the authority, in their own name', async () => {
    const authority = createAuthority();
    const server = await givenServer({ authority, own: authority.issue() });
    for (const names of [jobs, ['jobs'], ['127.0.0.1', 'jobs.default.svc.cluster.local']])
      expect(await count(givenClient(server.address, { authority, own: authority.issue({ names }) }))).toEqual({
        counts: [],
      });
  });

  it('gives no issuer the word of another: a stolen signing key is of no use without the certificate', async () => {
    const authority = createAuthority();
    const server = await givenServer({ authority, own: authority.issue() });
    for (const names of [['billing'], ['myjobs', 'x.jobs'], ['jobs-2']])
      await expect(
        count(givenClient(server.address, { authority, own: authority.issue({ names }) })),
      ).rejects.toMatchObject({
        kind: 'forbidden',
        message: 'The certificate of the connection is not one of jobs.',
      });
    const billing = givenClient(server.address, { authority, own: authority.issue({ names: ['billing'] }) }, 'billing');
    await expect(count(billing)).rejects.toMatchObject({
      kind: 'forbidden',
      message: 'billing may not call CountRows.',
    });
  });

  it.each([
    ['nothing encrypted', () => undefined],
    [
      'a certificate of another authority',
      (trusted: Authority) => ({ authority: trusted, own: createAuthority().issue({ names: jobs }) }),
    ],
  ])('refuses callers with %s', async (_name, ownOf) => {
    const authority = createAuthority();
    const server = await givenServer({ authority, own: authority.issue() });
    await expect(count(givenClient(server.address, ownOf(authority)))).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('refuses callers whose certificate has expired, and those without one', async () => {
    const authority = createAuthority();
    const server = await givenServer({ authority, own: authority.issue() });
    const late = authority.issue({ names: jobs, days: -1 });
    for (const own of [late, undefined]) {
      const key = own ? ([Buffer.from(own.key), Buffer.from(own.cert)] as const) : [];
      const client = new grpc.Client(server.address, grpc.credentials.createSsl(Buffer.from(authority.cert), ...key));
      open.push(() => client.close());
      await expect(ask(client, '/almanac.data.v1.Data/CountRows')).rejects.toMatchObject({
        code: grpc.status.UNAVAILABLE,
      });
    }
  });

  it.each([
    [
      'is for another host',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      (authority: Authority) => authority.issue({ names: ['elsewhere'] }),
    ],
    ['comes of another authority', 'unable to verify the first certificate', () => createAuthority().issue()],
  ])('tells a server nothing whose certificate %s, and says why', async (_name, why, ownOf) => {
    const authority = createAuthority();
    const server = await givenServer({ authority, own: ownOf(authority) });
    const failed = await count(givenClient(server.address, { authority, own: authority.issue({ names: jobs }) })).catch(
      (error: Error) => error,
    );
    expect(failed).toMatchObject({ kind: 'unavailable', cause: { details: expect.stringContaining(why) } });
  });

  it('does not describe itself: there is no reflection', async () => {
    const authority = createAuthority();
    const server = await givenServer({ authority, own: authority.issue() });
    const own = authority.issue({ names: jobs });
    const credentials = grpc.credentials.createSsl(
      Buffer.from(authority.cert),
      Buffer.from(own.key),
      Buffer.from(own.cert),
    );
    const client = new grpc.Client(server.address, credentials);
    open.push(() => client.close());
    for (const version of ['v1', 'v1alpha'])
      await expect(
        ask(client, `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`),
      ).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
  });
});

function ask(client: grpc.Client, method: string): Promise<unknown> {
  const asIs = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(method, asIs, asIs, Buffer.alloc(0), (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
}

describe('exchanging certificates', () => {
  it('takes them up while it runs: streams go on, calls never fail, new connections see the new one', async () => {
    const [before, after] = [createAuthority(), createAuthority()];
    const both = [before, after];
    const server = await givenServer({ authority: before, own: before.issue() });
    const client = givenClient(server.address, { authority: before, own: before.issue({ names: jobs }) });
    const stop = new AbortController();
    let chunks = 0;
    const reading = (async () => {
      for await (const _chunk of client.client.BulkRead(caller, {}, { signal: stop.signal })) chunks += 1;
    })();
    reading.catch(() => {});
    const calling = [1, 2, 3].map(async () => {
      let calls = 0;
      // Not a read, which would be asked once more when it fails.
      for (; !stop.signal.aborted; calls += 1) await client.client.CancelLoad(caller, {}, { deadlineMs: 30_000 });
      return calls;
    });

    // Everybody trusts both before anybody shows the new one.
    const probe = { authority: both, own: before.issue({ names: ['probe'] }) };
    const [oldServer, oldClient] = [before.issue(), before.issue({ names: jobs })];
    server.files.replace(asFiles({ authority: both, own: oldServer }));
    client.files.replace(asFiles({ authority: both, own: oldClient }));
    await eventually(async () => expect(await shown(server.port, probe)).toBe(oldServer.cert));
    await eventually(async () => {
      await expect(
        count(givenClient(server.address, { authority: both, own: after.issue({ names: jobs }) })),
      ).resolves.toBeDefined();
    });
    const [newServer, newClient] = [after.issue(), after.issue({ names: jobs })];
    server.files.replace(asFiles({ authority: both, own: newServer }));
    client.files.replace(asFiles({ authority: both, own: newClient }));
    await eventually(async () => expect(await shown(server.port, probe)).toBe(newServer.cert));

    // A connection kept from before, and a session to resume: neither outlives the authority.
    const kept = givenClient(server.address, { authority: both, own: oldClient });
    await count(kept);
    const session = await sessionOf(server.port, { authority: both, own: oldClient });
    const read = chunks;
    server.files.replace(asFiles({ authority: after, own: newServer }));
    client.files.replace(asFiles({ authority: after, own: newClient }));
    await eventually(() => expect(count(kept)).rejects.toMatchObject({ kind: 'unavailable' }));
    await expect(sessionOf(server.port, { authority: after, own: oldClient }, session)).rejects.toThrow(
      /alert|reset|closed/i,
    );
    await eventually(() => expect(chunks).toBeGreaterThan(read + 50));

    stop.abort();
    const calls = await Promise.all(calling);
    expect(Math.min(...calls)).toBeGreaterThan(10);
    await expect(reading).rejects.toMatchObject({ kind: 'unavailable' }); // by the signal
  });

  it('lets go of connections again and again under many calls, and none of these fails', async () => {
    const authority = createAuthority();
    let withdraw = () => {};
    const server = await givenServer({ authority, own: authority.issue() }, (tls) => ({
      ...tls,
      onWithdrawal: (listener) => {
        withdraw = listener;
      },
    }));
    const { client } = givenClient(server.address, { authority, own: authority.issue({ names: jobs }) });
    const failures: unknown[] = [];
    let [calls, withdrawals] = [0, 0];
    const call = async () => {
      await client.CancelLoad(caller, {}, { deadlineMs: 60_000 }).catch(({ cause }) => failures.push(cause?.details));
      calls += 1;
      // While others are on their way; and each has its time to find another connection before the
      // next one goes.
      if (calls > 300 * (withdrawals + 1)) {
        withdrawals += 1;
        withdraw();
      }
    };
    const calling = Array.from({ length: 32 }, async () => {
      while (withdrawals < 8) await call();
    });
    await Promise.all(calling);
    expect(failures).toEqual([]);
  });

  it('keeps the previous ones while the files are not usable, and says what to mend without a secret', async () => {
    const authority = createAuthority();
    const own = authority.issue();
    const server = await givenServer({ authority, own });
    const [client, other] = [authority.issue({ names: jobs }), authority.issue()];
    const files = asFiles({ authority, own });
    const wrong = [
      [{ ...files, 'tls.key': other.key }, 'ALMANAC_RPC_TLS_KEY_FILE: the key is not the one of the certificate'],
      [{ ...files, 'tls.crt': 'half a cert' }, 'ALMANAC_RPC_TLS_CERT_FILE: the file should hold a certificate in PEM'],
      [{ ...files, 'ca.crt': '' }, "ALMANAC_RPC_TLS_CA_FILE: the file should hold the authorities' certificates"],
      [{ 'tls.crt': own.cert, 'tls.key': own.key }, "ALMANAC_RPC_TLS_CA_FILE: the file can't be read (ENOENT)"],
      [
        asFiles({ authority, own: authority.issue({ days: -1 }) }),
        'ALMANAC_RPC_TLS_CERT_FILE: the certificate has expired',
      ],
    ] as const;
    for (const [contents, words] of wrong) {
      server.files.replace(contents as Record<string, string>);
      await eventually(() => expect(server.log()).toContain(words));
      expect(await shown(server.port, { authority, own: client })).toBe(own.cert);
      await count(givenClient(server.address, { authority, own: client }));
    }
    server.files.replace(asFiles({ authority, own: other }));
    await eventually(async () => expect(await shown(server.port, { authority, own: client })).toBe(other.cert));
    for (const { key } of [own, other]) expect(server.log()).not.toContain(key.split('\n')[1]);
  });

  it('does not begin with files that can not be used, and names every problem', () => {
    expect(() =>
      watchServiceTls({ cert: '/nowhere', key: '/nowhere', ca: '/dev/null' }, createLogger('test', 'silent')),
    ).toThrow(/CERT_FILE: the file can't be read \(ENOENT\)[\s\S]*KEY_FILE: [\s\S]*CA_FILE: the file should hold/);
    const read = new ConfigReader({ ALMANAC_RPC_TLS_CERT_FILE: '/a' });
    readRpcTls(read);
    expect(read.problems).toEqual([expect.stringContaining('belong together')]);
  });
});

/**
 * Connects, resuming the session if there is one, and answers one to resume. Fails when the server
 * refuses.
 */
async function sessionOf(port: number, { authority, own }: Trusted, session?: Buffer): Promise<Buffer> {
  const socket = tls.connect({
    port,
    host: '127.0.0.1',
    ca: bundle(authority),
    ...own,
    ALPNProtocols: ['h2'],
    ...(session ? { session } : {}),
  });
  try {
    return await new Promise((resolve, reject) => {
      socket.once('session', resolve).once('error', reject);
      socket.once('close', () => reject(new Error('closed')));
    });
  } finally {
    socket.destroy();
  }
}
