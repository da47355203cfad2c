// TLS to a RabbitMQ of this test's own, and to the S3 of ALMANAC_TEST_S3_URL behind a proxy that
// ends TLS.
import { randomUUID } from 'node:crypto';
import { connect, type Server } from 'node:net';
import { Readable } from 'node:stream';
import tls from 'node:tls';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { createBus } from '@almanac/service-kit/messaging/create-bus';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { eventually } from '@almanac/testkit/eventually';
import { type MountedFiles, mountFiles } from '@almanac/testkit/files/mounted-files';
import { collectMessages } from '@almanac/testkit/messaging/bus';
import { type Authority, type Certificate, createAuthority } from '@almanac/testkit/network/certificate';
import { createObjectStore } from '../../services/jobs/src/files/object-store/create-object-store.ts';
import type { ObjectStore } from '../../services/jobs/src/files/object-store/object-store.ts';
import { type OwnBroker, startOwnBroker } from '../support/own-broker.ts';

const authority = createAuthority();
const open: (() => unknown)[] = [];
let files: MountedFiles;

beforeEach(() => {
  files = mountFiles({ 'ca.crt': authority.cert, 'other.crt': createAuthority().cert });
  open.push(() => files.remove());
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const good = () => authority.issue();
const refused: [string, string, () => Certificate, string][] = [
  ['another authority', 'other.crt', good, "Name the file with its authority in the server's URL"],
  [
    'another host',
    'ca.crt',
    () => authority.issue({ names: ['elsewhere'] }),
    'is for other names than the one in its URL',
  ],
  ['a certificate that has ended', 'ca.crt', () => authority.issue({ days: -1 }), 'renew it there'],
];

function givenLog() {
  const lines: string[] = [];
  return {
    logger: createLogger('test', 'trace', { write: (line) => void lines.push(line) }),
    text: () => lines.join(''),
  };
}

describe('RabbitMQ by amqps', () => {
  let broker: OwnBroker;
  const ofAddress = (any: Authority) => any.issue({ names: ['127.0.0.1'] });

  beforeAll(async () => {
    broker = await startOwnBroker(ofAddress(authority));
  });
  afterAll(() => broker?.stop());

  async function busTrusting(file: string, host = '127.0.0.1'): Promise<{ bus: Bus; text(): string }> {
    const url = new URL(broker.url.replace('amqp:', 'amqps:'));
    url.port = String(Number(url.port) + 1);
    url.hostname = host;
    url.searchParams.set('ca_file', files.path(file));
    const { logger, text } = givenLog();
    const bus = await createBus(url.href, { service: 'test', instance: 'test', logger });
    open.push(() => bus.stop());
    return { bus, text };
  }

  async function expectRefused({ bus, text }: Awaited<ReturnType<typeof busTrusting>>, advice: string): Promise<void> {
    await bus.start();
    await eventually(() => expect(text()).toContain(advice));
    expect(bus.isReady()).toBe(false);
    expect(text()).not.toContain('guest:guest');
  }

  it('refuses another authority and another host, and logs what to do', async () => {
    await expectRefused(await busTrusting('other.crt'), "Name the file with its authority in the server's URL");
    await expectRefused(await busTrusting('ca.crt', 'localhost'), 'is for other names than the one in its URL');
  });

  it('carries messages, and uses an exchanged authority when it reconnects', async () => {
    const { bus } = await busTrusting('ca.crt');
    await bus.start();
    await eventually(() => expect(bus.isReady()).toBe(true));
    const received = await collectMessages(bus, 'test.received', ['test.thing.made']);
    const tell = (id: string) =>
      bus.publish([{ v: 1, id, type: 'test.thing.made', occurred_at: new Date().toISOString(), payload: {} }]);
    const [first, second] = [randomUUID(), randomUUID()];
    await tell(first);
    await eventually(() => expect(received.map(({ id }) => id)).toEqual([first]));
    const next = createAuthority();
    files.replace({ 'ca.crt': next.cert, 'other.crt': '' });
    await broker.certify(ofAddress(next));
    await eventually(() => tell(second));
    await eventually(() => expect(received.map(({ id }) => id)).toEqual([first, second]));
  });

  it('refuses an expired certificate, and logs what to do', async () => {
    await broker.certify(authority.issue({ days: -1 }));
    await expectRefused(await busTrusting('ca.crt'), 'renew it there');
  });
});

describe('S3 by https', () => {
  const plain = () => {
    const url = process.env.ALMANAC_TEST_S3_URL;
    if (!url) throw new Error('ALMANAC_TEST_S3_URL is missing (scripts/servers/ceph-rgw.sh start DIR PORT PORT).');
    return new URL(url);
  };

  // It ends TLS and passes bytes through, so that a client's signature stays valid.
  async function givenTlsProxy(own: Certificate): Promise<number> {
    const server: Server = tls.createServer(own, (socket) => {
      const behind = connect(Number(plain().port), plain().hostname);
      socket.on('error', () => behind.destroy()).on('close', () => behind.destroy());
      behind.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.pipe(behind).pipe(socket);
    });
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as { port: number }).port;
  }

  async function storeTrusting(file: string, port: number): Promise<ObjectStore> {
    const url = plain();
    url.port = String(port);
    url.searchParams.set('tls', 'true');
    url.searchParams.set('ca_file', files.path(file));
    const store = await createObjectStore({ url: url.href, publicUrl: 'http://127.0.0.1' });
    open.push(() => store.stop());
    return store;
  }

  it('stores and returns objects, large ones too, and uses an exchanged authority', async () => {
    const store = await storeTrusting('ca.crt', await givenTlsProxy(good()));
    await store.start();
    const bytes = Buffer.alloc(20 * 1024 * 1024, 7); // several parts
    const key = `accounts/1/tls-${Date.now()}`;
    const { etag } = await store.put(key, Readable.from([bytes]), { maxBytes: bytes.length });
    let read = 0;
    for await (const chunk of await store.read(key, etag)) read += chunk.length;
    expect(read).toBe(bytes.length);
    files.replace({ 'ca.crt': createAuthority().cert, 'other.crt': '' });
    await expect(store.stat(key)).rejects.toMatchObject({ kind: 'unavailable' });
    files.replace({ 'ca.crt': authority.cert, 'other.crt': '' });
    await store.remove(key);
  });

  it.each(refused)('refuses %s, and logs what to do', async (_name, file, ownOf, advice) => {
    const store = await storeTrusting(file, await givenTlsProxy(ownOf()));
    const { logger, text } = givenLog();
    const error = await store.start().catch((thrown: unknown) => thrown);
    logger.warn({ err: error }, 'the object store is not available yet'); // as jobs does
    expect(error).toMatchObject({ kind: 'unavailable' });
    expect(text()).toContain(advice);
    expect(text()).not.toContain(plain().password);
  });
});
