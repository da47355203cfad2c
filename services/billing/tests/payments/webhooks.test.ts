// The endpoint of the payment provider over HTTP, with valid and forged messages.
import { createContextSigner } from '@almanac/service-kit/caller/call-context';
import { limits } from '@almanac/service-kit/limits';
import type { Service } from '@almanac/service-kit/process/run';
import { type ClosableRpcClient, createRpcClient } from '@almanac/service-kit/rpc/client';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { refusal } from '@almanac/testkit/calls/refusal';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { waitLonger } from '@almanac/testkit/time-limits';
import { readConfig } from '../../src/config.ts';
import type { BillingContext } from '../../src/context.ts';
import { messagesPerMinute } from '../../src/payments/webhook-endpoint.ts';
import { createBilling } from '../../src/service.ts';
import { newSecret, signed, signedText } from './payment-provider.ts';

type Running = { service: Service<BillingContext>; url: string; rpcPort: number };

const [older, newer, foreign] = [newSecret(), newSecret(), newSecret()];
let keys: TestKeys;
let databases: TestDatabase[];
let open: Running;
let closed: Running;
let operator: ClosableRpcClient<'billing'>;
let lastAccount = 0;
let lastAddress = 0;

beforeAll(async () => {
  waitLonger();
  keys = await createTestKeys();
  databases = await Promise.all([createServiceDatabase('billing'), createTestDatabase('billing_bus')]);
  [open, closed] = await Promise.all([start(`${older},${newer}`), start('')]);
  const sign = await createContextSigner('operator', keys.privateKeys.operator);
  operator = createRpcClient('billing', `127.0.0.1:${open.rpcPort}`, sign);
});
afterAll(async () => {
  operator?.close();
  await Promise.all([open?.service.stop(), closed?.service.stop()]);
  await Promise.all(databases.map((database) => database.drop()));
});

async function start(secrets: string): Promise<Running> {
  const config = readConfig({
    ...keys.env,
    ALMANAC_LOG_LEVEL: 'silent',
    ALMANAC_BUS_URL: databases[1]?.url,
    BILLING_DATABASE_URL: databases[0]?.url,
    BILLING_HTTP_PORT: '0',
    BILLING_RPC_PORT: '0',
    BILLING_WEBHOOK_SECRETS: secrets,
  });
  const service = await createBilling(config);
  const { httpPort, rpcPort } = await service.start();
  return { service, url: `http://127.0.0.1:${httpPort}/webhooks/payments`, rpcPort: rpcPort as number };
}

async function givenAccount(): Promise<number> {
  lastAccount += 1;
  await operator.client.OpenAccount({ accountId: lastAccount }, { plan: 'free' });
  return lastAccount;
}

const billingOf = (accountId: number) => operator.client.GetAccountBilling({ accountId }, {});
const newAddress = () => {
  lastAddress += 1;
  return `10.${lastAddress >> 8}.${lastAddress & 255}.1`;
};

type Sent = { body: string; headers: Record<string, string> };

/** Sends a message, from another network each time unless an address is given. */
function send({ body, headers }: Sent, address = newAddress()): Promise<Response> {
  return fetch(open.url, { method: 'POST', body, headers: { ...headers, 'x-forwarded-for': address } });
}

const failure = (accountId: number, more = {}) => ({
  type: 'payment.failed',
  data: { account_id: accountId },
  ...more,
});

describe('a message of the payment provider', () => {
  it.each([
    ['the older', older],
    ['the newer', newer],
  ])('is applied when it is signed with %s of two secrets', async (_age, secret) => {
    const accountId = await givenAccount();
    const answer = await send(signed(secret, failure(accountId)));
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(await billingOf(accountId)).toMatchObject({ billing_status: 'overdue' });
    await send(
      signed(secret, { type: 'payment.succeeded', data: { account_id: accountId, more: ['of', 'its', 'own'] } }),
    );
    expect(await billingOf(accountId)).toMatchObject({ billing_status: 'current' });
    await send(signed(secret, { type: 'subscription.updated', data: { account_id: accountId, plan: 'business' } }));
    expect(await billingOf(accountId)).toMatchObject({ plan: 'business', allowance: 45_000 });
    await send(signed(secret, { type: 'subscription.cancelled', data: { account_id: accountId } }));
    expect(await billingOf(accountId)).toMatchObject({ billing_status: 'cancelled', writes_blocked: true });
  });

  it('is applied once when it is replayed', async () => {
    const accountId = await givenAccount();
    const message = signed(older, failure(accountId));
    for (let i = 0; i < 3; i += 1) expect((await send(message)).status).toBe(204);
    await send(signed(older, { type: 'payment.succeeded', data: { account_id: accountId } }));
    expect((await send(message)).status).toBe(204);
    expect(await billingOf(accountId)).toMatchObject({ billing_status: 'current' });
  });

  it('is ignored when its type does not concern the books', async () => {
    expect((await send(signed(older, { type: 'customer.created', data: { id: 'cus_1' } }))).status).toBe(204);
  });

  it('is a 404 for an unknown account, so that it is repeated', async () => {
    expect((await send(signed(older, failure(1_999_999)))).status).toBe(404);
  });
});

describe('a forged message', () => {
  const minutes = (count: number) => new Date(Date.now() + count * 60_000);
  const forged: [string, (accountId: number) => Sent][] = [
    ['is signed with another secret', (id) => signed(foreign, failure(id))],
    ['is not signed', (id) => ({ ...signed(older, failure(id)), headers: { 'content-type': 'application/json' } })],
    ['is too old', (id) => signed(older, failure(id), minutes(-6))],
    ['is from the future', (id) => signed(older, failure(id), minutes(6))],
    ['was modified', (id) => ({ ...signed(older, failure(999)), body: signed(older, failure(id)).body })],
    ['has a body of other bytes with the same meaning', (id) => respaced(signed(older, failure(id)))],
    ['has another id', (id) => withHeader(signed(older, failure(id)), 'webhook-id', 'msg_other')],
    ['has an id with a dot', (id) => signed(older, failure(id, { id: 'msg.1' }))],
    ['has another time', (id) => withHeader(signed(older, failure(id)), 'webhook-timestamp', '1')],
    ['has a malformed time', (id) => withHeader(signed(older, failure(id)), 'webhook-timestamp', 'NaN')],
    ['has an empty signature', (id) => withHeader(signed(older, failure(id)), 'webhook-signature', 'v1,')],
    ['has a version and no signature', (id) => withHeader(signed(older, failure(id)), 'webhook-signature', 'v1')],
    ['has a signature of another version', (id) => asVersion(signed(older, failure(id)), 'v2')],
    ['has the signature of an asymmetric key', (id) => asVersion(signed(older, failure(id)), 'v1a')],
    [
      'has a thousand signatures',
      (id) => withHeader(signed(older, failure(id)), 'webhook-signature', 'v1,x '.repeat(1_000)),
    ],
  ];

  it.each(forged)('is refused when it %s, and changes nothing', async (_case, message) => {
    const accountId = await givenAccount();
    const answer = await send(message(accountId));
    expect([answer.status, await answer.json()]).toEqual([
      400,
      refusal('Bad request', 'invalid_signature', 'The signature of the message is not valid.'),
    ]);
    expect(await billingOf(accountId)).toMatchObject({ billing_status: 'current' });
  });
});

describe('a malformed signed message', () => {
  it.each([
    ['no JSON', '{'],
    ['not UTF-8 once decoded', '{"type":"\\ud800"}'],
    ['not an object', '[]'],
    ['null', 'null'],
    ['nothing', ''],
    ['no account', message({ data: {} })],
    ['an account that is text', message({ data: { account_id: '1' } })],
    ['an account out of range', message({ data: { account_id: 2 ** 31 } })],
    ['a malformed time', message({ timestamp: 'yesterday' })],
    ['a day that does not exist', message({ timestamp: '2026-02-30T00:00:00Z' })],
    ['a zone that does not exist', message({ timestamp: '2026-02-03T00:00:00+99:00' })],
    ['a time without a zone', message({ timestamp: '2026-02-03T00:00:00' })],
    ['a time in the future', message({ timestamp: new Date(Date.now() + 600_000).toISOString() })],
    ['an unknown plan', message({ type: 'subscription.updated', data: { account_id: 1, plan: 'gold' } })],
    ['no plan', message({ type: 'subscription.updated', data: { account_id: 1 } })],
    [
      'a negative allowance',
      message({ type: 'subscription.updated', data: { account_id: 1, plan: 'free', allowance: -1 } }),
    ],
    [
      'a property of every object',
      message({ type: 'constructor', data: { __proto__: 1 } }).replace('"data":{}', '"__proto__":{}'),
    ],
    ['a property twice', '{"type":"payment.failed","type":"payment.succeeded"}'],
    ['a deep nest', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ])('is refused: %s', async (_case, body) => {
    const answer = await send(signedText(older, body));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error: 'Bad request',
      errors: expect.any(Array),
      problems: expect.any(Array),
    });
  });
});

describe('the endpoint', () => {
  it('accepts a body of the limit and none that is larger, with or without a Content-Length', async () => {
    const accountId = await givenAccount();
    const { body } = signed(older, failure(accountId));
    const fitting = body.padEnd(limits.webhookBytes);
    expect((await send(signedText(older, fitting, { id: 'large' }))).status).toBe(204);
    expect((await send(signedText(older, `${fitting} `, { id: 'larger' }))).status).toBe(413);
    const stream = new Blob([`${fitting} `]).stream();
    const init = { method: 'POST', body: stream, duplex: 'half', headers: { 'x-forwarded-for': newAddress() } };
    expect((await fetch(open.url, init as RequestInit)).status).toBe(413);
  });

  it('refuses a compressed body', async () => {
    const message = withHeader(signed(older, failure(1)), 'content-encoding', 'gzip');
    expect((await send(message)).status).toBe(415);
  });

  it('limits the messages of one network in a minute, and does not affect other networks', async () => {
    const network = newAddress().replace(/\d+$/, '');
    const statuses: Record<number, number> = {};
    for (let i = 0; i < messagesPerMinute + 10; i += 1) {
      const answer = await send({ body: '{}', headers: {} }, `${network}${i % 256}`);
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // When this takes longer than a minute on a slow machine, a few more messages are accepted.
    expect(statuses[400]).toBeGreaterThanOrEqual(messagesPerMinute);
    expect(Object.keys(statuses).every((status) => ['400', '429'].includes(status))).toBe(true);
    const accountId = await givenAccount();
    expect((await send(signed(older, failure(accountId)))).status).toBe(204);
  });

  it('is a 404 for another method', async () => {
    expect((await fetch(open.url)).status).toBe(404);
  });

  it('is a 404 without a secret in the configuration', async () => {
    const { body, headers } = signed(older, failure(1));
    const answer = await fetch(closed.url, { method: 'POST', body, headers });
    expect([answer.status, await answer.json()]).toEqual([
      404,
      refusal('Not found', 'unknown_address', 'There is nothing at this address.'),
    ]);
  });
});

describe('the configuration', () => {
  it.each([
    ['three secrets', [newSecret(), newSecret(), newSecret()].join(',')],
    ['no prefix', newSecret().slice(6)],
    ['a short secret', 'whsec_c2hvcnQ='],
    ['no base64', `whsec_${'!'.repeat(40)}`],
  ])('with %s is refused, and the error does not contain the secret', (_case, secrets) => {
    const env = { ...keys.env, ALMANAC_BUS_URL: databases[1]?.url, BILLING_DATABASE_URL: databases[0]?.url };
    const read = () => readConfig({ ...env, BILLING_WEBHOOK_SECRETS: secrets });
    expect(read).toThrow('BILLING_WEBHOOK_SECRETS');
    expect(read).not.toThrow(secrets);
  });
});

function withHeader({ body, headers }: Sent, name: string, value: string): Sent {
  return { body, headers: { ...headers, [name]: value } };
}

function asVersion(sent: Sent, version: string): Sent {
  const [, signature] = sent.headers['webhook-signature']?.split(',') ?? [];
  return withHeader(sent, 'webhook-signature', `${version},${signature}`);
}

function respaced({ body, headers }: Sent): Sent {
  return { headers, body: JSON.stringify(JSON.parse(body), null, 1) };
}

function message(more: object): string {
  const one = { type: 'payment.failed', timestamp: new Date().toISOString(), data: { account_id: 1 } };
  return JSON.stringify({ ...one, ...more });
}
