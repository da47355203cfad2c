// Billing as a service: over HTTP, gRPC and the bus.
import { createContextSigner, type Issuer } from '@almanac/service-kit/caller/call-context';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import type { Service } from '@almanac/service-kit/process/run';
import { type ClosableRpcClient, createRpcClient } from '@almanac/service-kit/rpc/client';
import { type Call, createCaller } from '@almanac/testkit/calls/call';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { badPayloads } from '@almanac/testkit/messaging/bad-payloads';
import { anyPayload, startBus } from '@almanac/testkit/messaging/bus';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { waitLonger } from '@almanac/testkit/time-limits';
import type { BillingConfig } from '../src/config.ts';
import { readConfig } from '../src/config.ts';
import type { BillingContext } from '../src/context.ts';
import { createBilling } from '../src/service.ts';

let keys: TestKeys;
let database: TestDatabase;
let busDatabase: TestDatabase;
let service: Service<BillingContext>;
let baseUrl: string;
const clients: Partial<Record<Issuer, ClosableRpcClient<'billing'>>> = {};

beforeAll(async () => {
  waitLonger();
  keys = await createTestKeys();
  [database, busDatabase] = await Promise.all([createServiceDatabase('billing'), createTestDatabase('billing_bus')]);
  const config: BillingConfig = readConfig({
    ...keys.env,
    ALMANAC_LOG_LEVEL: 'silent',
    ALMANAC_BUS_URL: busDatabase.url,
    BILLING_DATABASE_URL: database.url,
    BILLING_HTTP_PORT: '0',
    BILLING_RPC_PORT: '0',
  });
  service = await createBilling(config);
  const { httpPort, rpcPort } = await service.start();
  baseUrl = `http://127.0.0.1:${httpPort}`;
  for (const issuer of ['gateway', 'identity', 'operator', 'metadata'] as const)
    clients[issuer] = createRpcClient(
      'billing',
      `127.0.0.1:${rpcPort}`,
      await createContextSigner(issuer, keys.privateKeys[issuer]),
    );
});
afterAll(async () => {
  for (const client of Object.values(clients)) client.close();
  await service?.stop();
  await Promise.all([database?.drop(), busDatabase?.drop()]);
});

const as = (issuer: 'gateway' | 'identity' | 'operator' | 'metadata') =>
  (clients[issuer] as ClosableRpcClient<'billing'>).client;

/** Reserves and reports calls of an account. */
async function serve(accountId: number, served: { day: string; method: string; resource: string; calls: number }[]) {
  await as('operator').OpenAccount({ accountId }, { plan: 'business' });
  const lease = await as('gateway').ReserveCalls({ accountId }, { gateway_id: 'g', wanted: 100 });
  const counts = served.map((part) => ({ ...part, application_id: 3 }));
  const report = { lease_id: lease.lease_id, sequence: 1, served: counts, release: true };
  await as('gateway').SettleCalls({ accountId }, report);
}

const dayOfMonth = (day: number) =>
  new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), day)).toISOString().slice(0, 10);

describe('GET /usage', () => {
  let call: Call;
  beforeAll(async () => {
    await serve(1, [
      { day: dayOfMonth(1), method: 'GET', resource: 'domains', calls: 5 },
      { day: dayOfMonth(2), method: 'GET', resource: 'table_data', calls: 7 },
      { day: dayOfMonth(2), method: 'POST', resource: 'table_data', calls: 11 },
    ]);
    await serve(2, [{ day: dayOfMonth(2), method: 'DELETE', resource: 'domains', calls: 99 }]);
    call = createCaller(baseUrl, keys, { accountId: 1 });
  });

  it('lists calls per day, method, resource and application of this account only', async () => {
    const ofApi = { channel: 'api', application_id: 3, user_id: null };
    const { status, body } = await call('GET', '/api/v1/usage');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        { ...ofApi, day: dayOfMonth(1), method: 'GET', resource: 'domains', calls: 5 },
        { ...ofApi, day: dayOfMonth(2), method: 'GET', resource: 'table_data', calls: 7 },
        { ...ofApi, day: dayOfMonth(2), method: 'POST', resource: 'table_data', calls: 11 },
      ],
      meta: { page: 1, per_page: 100, total_count: 3, total_pages: 1 },
    });
  });

  it('lists calls of the console by person: each report once, of this account only, outside the allowance', async () => {
    const before = await as('gateway').GetAccountBilling({ accountId: 1 }, {});
    const part = { user_id: 7, method: 'GET', resource: 'domains', calls: 3 };
    const report = { report_id: crypto.randomUUID(), served: [part, { ...part, user_id: 8 }, part] };
    for (let i = 0; i < 2; i += 1) await as('gateway').CountConsoleCalls({ accountId: 1 }, report);
    await as('gateway').CountConsoleCalls({ accountId: 2 }, { report_id: crypto.randomUUID(), served: [part] });
    const { body } = await call('GET', '/api/v1/usage?channel=console&sort=-calls');
    const row = {
      channel: 'console',
      day: expect.any(String),
      method: 'GET',
      resource: 'domains',
      application_id: null,
    };
    expect(body.data).toEqual([
      { ...row, user_id: 7, calls: 6 },
      { ...row, user_id: 8, calls: 3 },
    ]);
    expect(await as('gateway').GetAccountBilling({ accountId: 1 }, {})).toEqual(before);
    expect((await call('GET', '/api/v1/usage')).body.data).toHaveLength(3);
    await expect(as('identity').CountConsoleCalls({ accountId: 1 }, report)).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });

  it.each([
    [`from=${dayOfMonth(2)}`, [7, 11]],
    [`to=${dayOfMonth(1)}`, [5]],
    [`from=${dayOfMonth(1)}&to=${dayOfMonth(1)}`, [5]],
    ['from=2001-01-01&to=2001-12-31', []],
    ['from=0001-01-01&to=9999-12-31', [5, 7, 11]],
    ['q=method:eq:POST', [11]],
    ['q=table&q=calls:gt:7', [11]],
    [`q=day:eq:${dayOfMonth(2)}`, [7, 11]],
    ['q=application_id:eq:4', []],
    ['sort=-calls', [11, 7, 5]],
    ['per_page=1&page=2', [7]],
  ])('understands %s', async (query, calls) => {
    const { body } = await call('GET', `/api/v1/usage?${query}`);
    expect(body.data.map((row: { calls: number }) => row.calls)).toEqual(calls);
  });

  it.each([
    'from=yesterday',
    'from=2026-02-30',
    'from=0000-01-01',
    'to=0000-12-31',
    'from=0000-13-01',
    'from=-0001-01-01',
    'to=10000-01-01',
    'from=2026-02-02&to=2026-02-01',
    'page=0',
    'q=day:gt:0000-01-01',
    'q=account_id:eq:2',
    'sort=account_id',
    'account_id=2',
  ])('refuses %s', async (query) => {
    const { status, body } = await call('GET', `/api/v1/usage?${query}`);
    expect([status, body.error, body.errors.length]).toEqual([400, 'Bad request', 1]);
  });

  it('explains the format of a day that is out of range', async () => {
    const { body } = await call('GET', '/api/v1/usage?from=0000-01-01');
    expect(body.errors).toEqual(['from must be a date, YYYY-MM-DD']);
  });

  it('needs a call context', async () => {
    expect((await fetch(`${baseUrl}/api/v1/usage`)).status).toBe(401);
  });
});

describe('GET /usage/statement', () => {
  it('answers the month as CSV to save, for this account only', async () => {
    const day = dayOfMonth(1);
    await serve(11, [{ day, method: 'GET', resource: 'domains', calls: 5 }]);
    await serve(12, [{ day, method: 'DELETE', resource: 'branches', calls: 99 }]);
    const call = createCaller(baseUrl, keys, { accountId: 11 });
    const month = day.slice(0, 7);
    for (const query of ['', `?month=${month}`]) {
      const { status, headers, body } = await call('GET', `/api/v1/usage/statement${query}`);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
      expect(headers.get('content-disposition')).toBe(`attachment; filename="almanac-statement-${month}.csv"`);
      expect(body.split('\r\n').slice(2)).toEqual([
        `${month},usage,,,,3,GET,domains,5,,,`,
        `${month},total_calls,,,,,,,5,,,`,
        '',
      ]);
    }
    const head = await call('HEAD', '/api/v1/usage/statement');
    expect([head.status, head.body]).toEqual([200, '']);
  });

  it.each([
    'month=2099-01',
    'month=0000-01',
    'month=1999-12',
    'month=2026-13',
    'month=2026-1',
    'month=2026-01-01',
    'month=',
    'month=2026-01&month=2026-02',
    "month=2026-01'--",
    'month=%EF%BC%92026-01',
    'account_id=12',
  ])('refuses %s', async (query) => {
    const { status, body } = await createCaller(baseUrl, keys, { accountId: 11 })(
      'GET',
      `/api/v1/usage/statement?${query}`,
    );
    expect([status, body.error]).toEqual([400, 'Bad request']);
  });

  it('needs a call context', async () => {
    expect((await fetch(`${baseUrl}/api/v1/usage/statement`)).status).toBe(401);
  });
});

describe('the RPCs of operators', () => {
  const account = { accountId: 13 };
  beforeAll(() => serve(13, [{ day: dayOfMonth(1), method: 'GET', resource: 'domains', calls: 5 }]));

  it('return the usage and the statement of a month', async () => {
    const month = dayOfMonth(1).slice(0, 7);
    expect(await as('operator').GetUsage(account, { month: '' })).toMatchObject({
      month,
      calls: [{ day: dayOfMonth(1), method: 'GET', resource: 'domains', calls: 5 }],
    });
    const statement = await as('operator').GetStatement(account, { month });
    expect(statement).toMatchObject({ month, calls: 5, plans: [{ plan: 'business', allowance: 45_000 }], overage: [] });
    expect(statement.csv).toContain(`${month},total_calls,,,,,,,5,,,\r\n`);
    await expect(as('operator').GetUsage(account, { month: '2099-01' })).rejects.toMatchObject({ kind: 'bad_request' });
  });

  it('return the billing events of an account, newest first', async () => {
    await as('operator').UpdateAccountBilling(account, { plan: 'enterprise', allowance: 60_000 });
    await as('operator').UpdateAccountBilling(account, { billing_status: 'overdue' });
    const { events } = await as('operator').ListBillingEvents(account, {});
    expect(events).toMatchObject([
      { source: 'operator', billing_status: 'overdue', overdue_since: '', plan: '' },
      { source: 'operator', billing_status: '', plan: 'enterprise', allowance: 60_000 },
    ]);
    expect(await as('operator').ListBillingEvents({ accountId: 12 }, {})).toEqual({ events: [] });
  });

  it('set and return the price of overage; other callers are refused', async () => {
    const rate = { plan: 'plus', currency: 'EUR', price_per_1000: '1.25' };
    const added = await as('operator').AddOverageRate({ accountId: 0 }, rate);
    expect(added).toMatchObject({ ...rate, price_per_1000: '1.2500' });
    const { rates } = await as('operator').ListOverageRates({ accountId: 0 }, {});
    expect(rates.filter(({ plan }) => plan === 'plus')[0]).toEqual(added);
    for (const issuer of ['gateway', 'identity', 'metadata'] as const) {
      await expect(as(issuer).AddOverageRate(account, rate)).rejects.toMatchObject({ kind: 'forbidden' });
      await expect(as(issuer).GetStatement(account, {})).rejects.toMatchObject({ kind: 'forbidden' });
    }
  });
});

describe('the permissions of callers', () => {
  const account = { accountId: 3 };
  const refused = { kind: 'forbidden' };
  it('follow from the issuer of the context', async () => {
    await as('identity').OpenAccount(account, { plan: 'plus' });
    await expect(as('gateway').OpenAccount(account, { plan: 'plus' })).rejects.toMatchObject(refused);
    await expect(as('metadata').GetAccountBilling(account, {})).rejects.toMatchObject(refused);
    await expect(as('identity').ReserveCalls(account, { gateway_id: 'g', wanted: 1 })).rejects.toMatchObject(refused);
    await expect(as('operator').SettleCalls(account, {})).rejects.toMatchObject(refused);
    await expect(as('gateway').UpdateAccountBilling(account, { overage_enabled: true })).rejects.toMatchObject(refused);
    await expect(as('identity').UpdateAccountBilling(account, { plan: 'business' })).rejects.toMatchObject(refused);
    expect(await as('identity').UpdateAccountBilling(account, { overage_enabled: true })).toMatchObject({
      plan: 'plus',
      overage_enabled: true,
      allowance: 15_000,
    });
    expect(await as('operator').UpdateAccountBilling(account, { allowance: 20_000 })).toMatchObject({
      overage_enabled: true,
      allowance: 20_000,
    });
  });
});

describe('the bus', () => {
  const buses: Bus[] = [];
  const connectAs = async (name: string) => {
    const bus = await startBus(busDatabase.url, name);
    buses.push(bus);
    return bus;
  };
  afterAll(() => Promise.all(buses.map((bus) => bus.stop())));

  it('opens the books of a new account, once', async () => {
    const bus = await connectAs('identity');
    const message = (plan: string) => ({
      v: 1 as const,
      id: crypto.randomUUID(),
      type: 'identity.account.created',
      occurred_at: new Date().toISOString(),
      payload: { account_id: 4, name: 'Four', plan },
    });
    await bus.publish([message('business')]);
    const read = () => as('operator').GetAccountBilling({ accountId: 4 }, {});
    await eventually(async () => expect(await read()).toMatchObject({ plan: 'business' }));
    await bus.publish([message('free')]);
    expect(await read()).toMatchObject({ plan: 'business' });
  });

  it('dead-letters malformed events at once, and continues', async () => {
    const bus = await connectAs('identity');
    const message = (payload: Record<string, unknown>) => ({
      v: 1 as const,
      id: crypto.randomUUID(),
      type: 'identity.account.created',
      occurred_at: new Date().toISOString(),
      payload,
    });
    await bus.publish(badPayloads.map(message));
    await bus.publish([message({ account_id: 6, name: 'Six', plan: 'business', more: { newer: true } })]);
    await eventually(async () => expect(await bus.deadLetters('billing.accounts')).toBe(badPayloads.length));
    await eventually(async () =>
      expect(await as('operator').GetAccountBilling({ accountId: 6 }, {})).toMatchObject({ plan: 'business' }),
    );
  });

  it('announces a changed account', async () => {
    const bus = await connectAs('gateway');
    const received: unknown[] = [];
    await bus.subscribe(
      samePayload(['billing.account.changed'], anyPayload),
      (message) => void received.push(message.payload),
    );
    await as('operator').OpenAccount({ accountId: 5 }, { plan: 'free' });
    await eventually(async () => {
      await as('operator').UpdateAccountBilling({ accountId: 5 }, { plan: 'plus' });
      expect(received).toContainEqual({ account_id: 5 });
    });
  });
});
