// Webhook endpoints over the API: their administrators, checks, secrets, and other accounts.
import { eventually } from '@almanac/testkit/eventually';
import { givenReceiver, type Receiver } from '@almanac/testkit/messaging/webhook-receiver';
import { Webhook } from 'standardwebhooks';
import { sweepDeliveries } from '../../src/webhooks/endpoints/deliveries.ts';
import { resealSecrets } from '../../src/webhooks/secrets/stored-secrets.ts';
import { createWebhookSecrets } from '../../src/webhooks/secrets/webhook-secrets.ts';
import { givenJobs, type Jobs } from '../given.ts';
import { deleteEndpoints, deliveriesOf, givenEndpoint, givenEvent, settled } from './given.ts';

let jobs: Jobs;
let receiver: Receiver;
const hosts: Record<string, string[]> = { 'inside.example.com': ['10.1.2.3'], 'hooks.example.com': ['8.8.8.8'] };

beforeAll(async () => {
  receiver = await givenReceiver();
  jobs = await givenJobs({
    resolve: async (host) => hosts[host] ?? Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
  });
  jobs.neighbours.addTable({ key: 'countries', table_definition_id: 10 });
});
afterAll(async () => {
  await jobs.close();
  await receiver.stop();
});
beforeEach(async () => {
  receiver.received.length = 0;
  jobs.acts.length = 0;
  await deleteEndpoints(jobs);
});

const path = '/api/v1/webhook_endpoints';

describe('an endpoint', () => {
  it('is created with a secret that is shown once, changed, listed and deleted', async () => {
    const attributes = {
      url: receiver.url,
      description: 'Warehouse',
      event_types: ['rows.*', 'rows.*'],
      table_definition_ids: [10],
    };
    const made = await jobs.call('POST', path, { webhook_endpoint: attributes });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        ...attributes,
        event_types: ['rows.*'],
        include_rows: true,
        enabled: true,
        disabled_reason: null,
        failing_since: null,
        previous_secret_until: null,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    const { secret, ...shown } = made.body;
    const one = `${path}/${shown.id}`;
    expect((await jobs.call('GET', one)).body).toEqual(shown);
    expect((await jobs.call('GET', `${path}?q=enabled:eq:true`)).body).toMatchObject({
      data: [shown],
      meta: { total_count: 1 },
    });
    const changed = await jobs.call('PATCH', one, { event_types: ['*'], enabled: false });
    expect(changed.body).toMatchObject({
      event_types: ['*'],
      enabled: false,
      disabled_reason: 'request',
      url: receiver.url,
    });
    expect((await jobs.call('PATCH', one, { enabled: true, include_rows: false })).body).toMatchObject({
      include_rows: false,
      enabled: true,
      disabled_reason: null,
    });
    expect((await jobs.call('DELETE', one)).status).toBe(204);
    expect((await jobs.call('GET', one)).status).toBe(404);
    const acts = await eventually(() => {
      expect(jobs.acts).toHaveLength(4);
      return jobs.acts;
    });
    expect(acts.map(({ action }) => action)).toEqual(
      ['created', 'updated', 'updated', 'deleted'].map((done) => `webhook_endpoint.${done}`),
    );
    expect(JSON.stringify([acts, changed.body])).not.toContain(secret);
  });

  it.each([
    ['plain HTTP', { url: 'http://hooks.example.com/' }, 'Url must begin with https://'],
    ['plain HTTP to a name that is not known', { url: 'http://later.example.com/' }, 'Url must begin with https://'],
    ['another protocol', { url: 'ftp://hooks.example.com/' }, 'Url must begin with https://'],
    ['no URL', { url: 'hooks.example.com' }, 'Url must begin with https://'],
    ['blanks', { url: ' https://hooks.example.com/' }, "Url can't contain blanks"],
    ['credentials', { url: 'https://user:pass@hooks.example.com/' }, "Url can't contain credentials"],
    ['a fragment', { url: 'https://hooks.example.com/#a' }, "Url can't have a fragment"],
    [
      'a port of the system',
      { url: 'https://hooks.example.com:22/' },
      'Url may have port 80, 443, or one from 1024 on',
    ],
    ['a private address', { url: 'https://10.1.2.3/' }, 'Url leads to an address that webhooks do not reach'],
    [
      'a private address by its name',
      { url: 'https://inside.example.com/' },
      'Url leads to an address that webhooks do not reach',
    ],
    [
      'the metadata of a cloud',
      { url: 'http://169.254.169.254/latest' },
      'Url leads to an address that webhooks do not reach',
    ],
    [
      'a loopback address as a number',
      { url: 'https://0x7f.2/' },
      'Url leads to an address that webhooks do not reach',
    ],
    [
      'a long URL',
      { url: `https://hooks.example.com/${'x'.repeat(2048)}` },
      expect.stringMatching(/^Url must be at most 2048/),
    ],
    ['no types', { event_types: [] }, expect.stringMatching(/^Event types must have at least 1/)],
    ['no type of an event', { event_types: ['rows*'] }, expect.stringMatching(/must be the type of an event/)],
    ['an unknown table', { table_definition_ids: [10, 999] }, 'There is no table definition 999.'],
  ])('is refused with %s', async (_, wrong, error) => {
    const body = { url: 'https://hooks.example.com/a', event_types: ['*'], ...wrong };
    const refused = await jobs.call('POST', path, body);
    expect([refused.status, refused.body.errors]).toEqual([422, [error]]);
    const good = await givenEndpoint(jobs, { url: 'https://hooks.example.com/a' });
    const patched = await jobs.call('PATCH', good.path, wrong);
    expect([patched.status, patched.body.errors]).toEqual([422, [error]]);
    expect((await jobs.call('GET', path)).body.meta.total_count).toBe(1);
  });

  it('may have a name that is not in DNS yet', async () => {
    await givenEndpoint(jobs, { url: 'https://later.example.com/a' });
  });

  it('is one of at most twenty, also of those that are created at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 23 }, () => jobs.call('POST', path, { url: receiver.url, event_types: ['*'] })),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(made.find(({ status }) => status === 422)?.body.errors).toEqual([
      'An account has at most 20 webhook endpoints.',
    ]);
    expect((await jobs.as({ accountId: 2 })('POST', path, { url: receiver.url, event_types: ['*'] })).status).toBe(201);
  });

  it('is made once by a request that is repeated, with the same secret', async () => {
    const headers = { 'idempotency-key': 'endpoint-1' };
    const body = { url: receiver.url, event_types: ['*'] };
    const [first, second] = [
      await jobs.call('POST', path, body, headers),
      await jobs.call('POST', path, body, headers),
    ];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    await jobs.call('POST', `${path}/${first.body.id}/rotate_secret`);
    expect((await jobs.call('POST', path, body, headers)).body).toMatchObject({ id: first.body.id, secret: '' });
  });
});

describe('a secret', () => {
  it('is stored encrypted', async () => {
    const { id, secret } = await givenEndpoint(jobs, { url: receiver.url });
    const row = await jobs.context.prisma.webhook_endpoint.findUniqueOrThrow({ where: { id } });
    const bytes = Buffer.from(row.secret);
    expect(bytes.includes(secret.slice(6))).toBe(false);
    expect(bytes.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
    const other = await givenEndpoint(jobs, { url: receiver.url });
    expect(() => jobs.context.webhooks.secrets.open(other.id, row.secret)).toThrow(/another JOBS_KEY_ENCRYPTION_KEY/);
  });

  it('signs beside the new one for a day after a rotation', async () => {
    const endpoint = await givenEndpoint(jobs, { url: receiver.url });
    const rotated = await jobs.call('POST', `${endpoint.path}/rotate_secret`);
    const until = new Date(rotated.body.previous_secret_until).getTime() - Date.now();
    expect(until / 3_600_000).toBeCloseTo(24, 1);
    expect(rotated.body.secret).not.toBe(endpoint.secret);
    await givenEvent(jobs);
    await settled(jobs, endpoint);
    const [message] = receiver.received as [Receiver['received'][0]];
    expect(String(message.headers['webhook-signature']).split(' ')).toHaveLength(2);
    receiver.verify(endpoint.secret, message);
    receiver.verify(rotated.body.secret, message);
    expect(() => receiver.verify(`whsec_${Buffer.alloc(32).toString('base64')}`, message)).toThrow(/No matching/);
    expect(() => new Webhook(endpoint.secret).verify(`${message.body} `, message.headers as never)).toThrow(
      /No matching/,
    );

    await jobs.context.prisma.webhook_endpoint.update({
      where: { id: endpoint.id },
      data: { previous_secret_until: new Date() },
    });
    await givenEvent(jobs);
    await settled(jobs, endpoint);
    const later = receiver.received[1] as Receiver['received'][0];
    expect(String(later.headers['webhook-signature']).split(' ')).toHaveLength(1);
    receiver.verify(rotated.body.secret, later);
    expect(() => receiver.verify(endpoint.secret, later)).toThrow(/No matching/);
    expect((await jobs.call('GET', endpoint.path)).body.previous_secret_until).toBeNull();
  });
});

const expectedOf = (method: string, to: string) =>
  method === 'DELETE' ? 204 : method === 'POST' && (to === path || to.endsWith('/test')) ? 201 : 200;

describe('callers', () => {
  it('who do not administer the account are refused', async () => {
    const { path: one } = await givenEndpoint(jobs, { url: receiver.url });
    const edit = { action: 'develop', resource_type: 'account', resource_id: 1 };
    jobs.neighbours.permissions.set(7, { license_type: 'developer', permissions: [edit] });
    jobs.neighbours.permissions.set(8, { license_type: 'developer', permissions: [{ ...edit, action: 'admin' }] });
    const calls = [
      ['GET', path],
      ['POST', path, { url: receiver.url, event_types: ['*'] }],
      ['GET', one],
      ['PATCH', one, { description: 'x' }],
      ['POST', `${one}/rotate_secret`],
      ['POST', `${one}/test`],
      ['POST', `${one}/replay`, { since: '2026-01-01T00:00:00Z' }],
      ['GET', `${one}/deliveries`],
      ['DELETE', one],
    ] as const;
    for (const [method, to, body] of calls) {
      expect([to, (await jobs.as({ userId: 7 })(method, to, body)).status]).toEqual([to, 403]);
    }
    for (const [method, to, body] of calls)
      expect([to, (await jobs.as({ userId: 8 })(method, to, body)).status]).toEqual([to, expectedOf(method, to)]);
  });

  it('of another account find none of them, and their events stay apart', async () => {
    const own = await givenEndpoint(jobs, { url: receiver.url });
    const other = jobs.as({ accountId: 2 });
    const theirs = await givenEndpoint(jobs, { url: `${receiver.url}/2` }, other);
    await givenEvent(jobs);
    const [{ id }] = await settled(jobs, own);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
    expect(await deliveriesOf(jobs, theirs, other)).toEqual([]);
    for (const [method, to, body] of [
      ['GET', own.path],
      ['PATCH', own.path, { description: 'x' }],
      ['DELETE', own.path],
      ['POST', `${own.path}/rotate_secret`],
      ['POST', `${own.path}/test`],
      ['POST', `${own.path}/replay`, { since: '2026-01-01T00:00:00Z' }],
      ['GET', `${own.path}/deliveries`],
      ['POST', `${own.path}/deliveries/${id}/resend`],
      ['POST', `${theirs.path}/deliveries/${id}/resend`],
    ] as const) {
      const answer = await other(method, to, body);
      expect([to, answer.status]).toEqual([to, 404]);
    }
    expect((await other('GET', path)).body.data.map((each: { id: number }) => each.id)).toEqual([theirs.id]);
    expect((await jobs.call('GET', own.path)).status).toBe(200);
  });
});

it('the erasure of an account removes its endpoints and deliveries, and no others', async () => {
  const own = await givenEndpoint(jobs, { url: receiver.url });
  const erased = jobs.as({ accountId: 3 });
  const theirs = await givenEndpoint(jobs, { url: receiver.url }, erased);
  await givenEvent(jobs, { accountId: 3 });
  await givenEvent(jobs);
  await settled(jobs, own);
  await eventually(async () => expect(await deliveriesOf(jobs, theirs, erased)).toHaveLength(1));
  await jobs.announce('identity.account_erasure.requested', { account_id: 3 });
  const { webhook_endpoint, webhook_delivery } = jobs.context.prisma;
  const left = async () => [
    await webhook_endpoint.count({ where: { account_id: 3 } }),
    await webhook_delivery.count({ where: { account_id: 3 } }),
  ];
  await eventually(async () => expect(await left()).toEqual([0, 0]));
  expect(await deliveriesOf(jobs, own)).toHaveLength(1);
});

it('secrets are encrypted again when their key is replaced, and sign as before', async () => {
  const endpoint = await givenEndpoint(jobs, { url: receiver.url });
  await jobs.call('POST', `${endpoint.path}/rotate_secret`);
  const stored = () => jobs.context.prisma.webhook_endpoint.findUniqueOrThrow({ where: { id: endpoint.id } });
  const before = await stored();
  const [old, next] = [Buffer.alloc(32, 6), Buffer.alloc(32, 9)];
  const both = createWebhookSecrets(next, old);
  const alone = createWebhookSecrets(next);
  expect(() => alone.open(endpoint.id, before.secret)).toThrow(/another JOBS_KEY_ENCRYPTION_KEY/);
  await resealSecrets(jobs.context.pool, both);
  const after = await stored();
  expect(alone.open(endpoint.id, after.previous_secret as Uint8Array)).toBe(endpoint.secret);
  expect(alone.open(endpoint.id, after.secret)).toBe(jobs.context.webhooks.secrets.open(endpoint.id, before.secret));
  await resealSecrets(jobs.context.pool, both);
  expect((await stored()).secret).toEqual(after.secret);
  expect(() => createWebhookSecrets(undefined).seal(1, 'x')).toThrow(/JOBS_KEY_ENCRYPTION_KEY is not set/);
});

it('old deliveries are removed, but those that wait', async () => {
  const endpoint = await givenEndpoint(jobs, { url: receiver.url });
  await givenEvent(jobs);
  await settled(jobs, endpoint);
  const old = { account_id: 1, endpoint_id: endpoint.id, message_id: 'x', event_type: 'x' };
  const created_at = new Date(Date.now() - 31 * 86_400_000);
  const later = new Date(Date.now() + 3_600_000);
  await jobs.context.prisma.webhook_delivery.createMany({
    data: [
      { ...old, status: 'failed', created_at },
      { ...old, status: 'pending', next_attempt_at: later, created_at },
    ],
  });
  await sweepDeliveries(jobs.context);
  const left = await deliveriesOf(jobs, endpoint);
  expect(left.map(({ status }: { status: string }) => status)).toEqual(['delivered', 'pending']);
});
