// Counting with the real billing service, a separate process with a real database.
import { createContextSigner } from '@almanac/service-kit/caller/call-context';
import { type ClosableRpcClient, createRpcClient } from '@almanac/service-kit/rpc/client';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { startTcpProxy, type TcpProxy } from '@almanac/testkit/network/tcp-proxy';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import { endService, spawnService, untilReady } from '@almanac/testkit/processes/service-process';
import { callWith, type TestGateway } from '../given.ts';
import { useNeighbours } from '../neighbours.ts';

const { keys, database, services, identity, startGateway, onEnd } = useNeighbours();
let billing: ClosableRpcClient<'billing'>;
let billingRpc: string;
let a: TestGateway;
let b: TestGateway;
let lastAccount = 100;

beforeAll(async () => {
  const port = await findFreePort();
  billingRpc = `127.0.0.1:${port}`;
  await startBilling(port);
  billing = createRpcClient('billing', billingRpc, await createContextSigner('operator', keys.privateKeys.operator));
  onEnd(() => billing.close());
  [a, b] = await Promise.all([startGateway({ billingRpc }), startGateway({ billingRpc })]);
});

async function startBilling(port: number): Promise<void> {
  const books = await createTestDatabase('gateway_billing');
  onEnd(books.drop);
  const child = spawnService('billing', {
    ...keys.env,
    ALMANAC_BUS_URL: database.url,
    ALMANAC_LOG_LEVEL: 'silent',
    BILLING_DATABASE_URL: books.url,
    BILLING_HTTP_PORT: '0',
    BILLING_RPC_PORT: String(port),
  });
  onEnd(() => endService(child));
  await untilReady('billing', child);
}

type Account = { id: number; token: string };

async function givenAccount(plan = 'free', allowance?: number): Promise<Account> {
  lastAccount += 1;
  const accountId = lastAccount;
  await billing.client.OpenAccount({ accountId }, { plan });
  if (allowance !== undefined) await billing.client.UpdateAccountBilling({ accountId }, { allowance });
  return { id: accountId, token: await identity.token({ account_id: accountId }) };
}

const booked = async (account: Account) => {
  const { calls } = await billing.client.GetAccountBilling({ accountId: account.id }, {});
  return Number(calls);
};
const get = (gateway: TestGateway, account: Account, path = '/api/v1/domains') =>
  callWith(gateway, account.token, 'GET', path);
// While a lease is on its way for long, as on a busy machine, calls are 503 and not counted.
const getCounted = async (gateway: TestGateway, account: Account): Promise<Response> => {
  let answer = await get(gateway, account);
  for (let tries = 0; answer.status === 503 && tries < 20; tries += 1) {
    await answer.arrayBuffer();
    answer = await get(gateway, account);
  }
  return answer;
};
const statuses = async (answers: Promise<Response>[]) => {
  const counted: Record<number, number> = {};
  for (const answer of await Promise.all(answers)) {
    counted[answer.status] = (counted[answer.status] ?? 0) + 1;
    await answer.arrayBuffer();
  }
  return counted;
};

describe('counting', () => {
  it('counts each answered call once, except 402, 429 and 5xx', async () => {
    const account = await givenAccount();
    const answers = [200, 201, 204, 301, 400, 401, 403, 404, 412, 422, 402, 429, 500, 503];
    services.answer((req, res) => res.writeHead(Number(req.url?.split('=')[1])).end());
    for (const status of answers)
      expect((await get(a, account, `/api/v1/domains?status=${status}`)).status).toBe(status);
    await callWith(a, account.token, 'GET', '/api/v1/nothing');
    await callWith(a, account.token, 'PUT', '/api/v1/domains');
    await callWith(a, await identity.token({ account_id: account.id, scope: 'api:write' }), 'GET', '/api/v1/domains');
    await eventually(async () => expect(await booked(account)).toBe(10));
  });

  it('is exact whenever the account shows it', async () => {
    const account = await givenAccount();
    services.answer(async (req, res) => {
      res.end(req.url === '/api/v1/account' ? String(await booked(account)) : '{}');
    });
    for (let i = 0; i < 10; i += 1) {
      await statuses(Array.from({ length: i }, () => get(a, account)));
      const before = (i * (i + 1)) / 2 + i; // these calls, and the earlier ones to /account
      expect(Number(await (await get(a, account, '/api/v1/account')).text())).toBe(before);
    }
  });

  it('shows the limit, the exact remaining calls, and the end of the month', async () => {
    // Near the end of an allowance idle leases are returned at once, and the number shown may be
    // too low for a moment.
    const account = await givenAccount('plus');
    for (let left = 14_999; left > 14_940; left -= 1) {
      const { headers } = await get(a, account);
      expect(headers.get('x-allowance-remaining')).toBe(String(left));
      expect(headers.get('x-allowance-limit')).toBe('15000');
      expect(headers.get('x-allowance-reset')).toMatch(/^\d{4}-\d\d-01T00:00:00\.000Z$/);
    }
  });

  it('never shows more remaining calls than before, with two gateways and failing calls', async () => {
    const account = await givenAccount('free', 200);
    services.answer((_req, res) => res.writeHead(Math.random() < 0.3 ? 500 : 200).end());
    for (const gateway of [a, b]) {
      let last = Number.POSITIVE_INFINITY;
      const answers = await Promise.all(Array.from({ length: 60 }, () => get(gateway, account)));
      for (const answer of answers.filter(({ status }) => status === 200)) {
        const left = Number(answer.headers.get('x-allowance-remaining'));
        expect(left).toBeGreaterThanOrEqual(0);
        expect(left).toBeLessThanOrEqual(200);
      }
      for (let i = 0; i < 20; i += 1) {
        const left = Number((await get(gateway, account)).headers.get('x-allowance-remaining'));
        expect(left).toBeLessThanOrEqual(last);
        last = left;
      }
    }
  });

  it('is exact over two gateways', async () => {
    const account = await givenAccount('business');
    const counted = await statuses(Array.from({ length: 600 }, (_, i) => getCounted(i % 2 ? a : b, account)));
    expect(counted).toEqual({ 200: 600 });
    await eventually(async () => expect(await booked(account)).toBe(600));
  });

  it('counts each account separately', async () => {
    const [one, two] = await Promise.all([givenAccount(), givenAccount()]);
    await statuses(Array.from({ length: 30 }, (_, i) => get(a, i < 10 ? one : two)));
    await eventually(async () => expect([await booked(one), await booked(two)]).toEqual([10, 20]));
  });

  it('counts a call whose client disconnected after the whole request was sent', async () => {
    const account = await givenAccount();
    let arrived = 0;
    services.answer(() => {
      arrived += 1; // and never answers
    });
    const abort = new AbortController();
    const answers = Array.from({ length: 5 }, () =>
      callWith(a, account.token, 'GET', '/api/v1/domains', { signal: abort.signal }).catch(() => undefined),
    );
    await eventually(() => expect(arrived).toBe(5));
    abort.abort();
    await Promise.all(answers);
    await eventually(async () => expect(await booked(account)).toBe(5));
  });
});

describe('the end of the allowance', () => {
  it('serves exactly one of 200 parallel calls over two gateways when one call is left', async () => {
    const account = await givenAccount('free', 1);
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => getCounted(i % 2 ? a : b, account)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(199);
    const [one] = refused;
    expect(await one?.json()).toEqual(
      refusal('API allowance exceeded', 'allowance_exceeded', "This month's allowance of API calls is used up."),
    );
    expect(Number(one?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(one?.headers.get('x-allowance-remaining')).toBe('0');
    await eventually(async () => expect(await booked(account)).toBe(1));
  });

  it('serves exactly the allowance, even if most calls go to one gateway', async () => {
    const account = await givenAccount('free', 120);
    await statuses(Array.from({ length: 5 }, () => getCounted(b, account))); // b holds a lease
    const counted = await statuses(Array.from({ length: 300 }, () => getCounted(a, account)));
    expect(counted).toEqual({ 200: 115, 429: 185 });
    await eventually(async () => expect(await booked(account)).toBe(120));
    expect((await get(b, account)).status).toBe(429);
  });

  it('puts back a failed call', async () => {
    const account = await givenAccount('free', 1);
    services.answer((_req, res) => res.writeHead(500).end());
    expect((await get(a, account)).status).toBe(500);
    services.answer(undefined);
    await eventually(async () => expect((await get(b, account)).status).toBe(200));
    expect((await get(a, account)).status).toBe(429);
  });

  it('over random runs, books what was served and never serves more', async () => {
    for (let run = 0; run < 5; run += 1) {
      const allowance = 20 + Math.floor(Math.random() * 100);
      const account = await givenAccount('free', allowance);
      services.answer((_req, res) => {
        setTimeout(() => res.writeHead(Math.random() < 0.1 ? 503 : 200).end(), Math.random() * 10);
      });
      const calls = Array.from({ length: 200 }, () => get(Math.random() < 0.7 ? a : b, account));
      const counted = await statuses(calls);
      expect(counted[200]).toBeLessThanOrEqual(allowance);
      await eventually(async () => expect(await booked(account)).toBe(counted[200]));
    }
  });

  it('does not refuse calls with overage, or after the allowance is raised', async () => {
    const account = await givenAccount('free', 2);
    expect(await statuses([get(a, account), get(a, account), get(a, account)])).toEqual({ 200: 2, 429: 1 });
    await billing.client.UpdateAccountBilling({ accountId: account.id }, { overage_enabled: true });
    await eventually(async () => expect((await get(a, account)).status).toBe(200));
    expect((await get(a, account)).headers.get('x-allowance-remaining')).toBe('0');
    await eventually(async () => expect(await booked(account)).toBe(4));
    const state = await billing.client.GetAccountBilling({ accountId: account.id }, {});
    expect(Number(state.overage_calls)).toBe(2);
    await billing.client.UpdateAccountBilling({ accountId: account.id }, { overage_enabled: false });
    await eventually(async () => expect((await get(a, account)).status).toBe(429));
    await billing.client.UpdateAccountBilling({ accountId: account.id }, { allowance: 500 });
    await eventually(async () => expect((await get(a, account)).status).toBe(200));
  });
});

describe('a changed allowance', () => {
  // Failing calls don't count, and their headers show the allowance that the gateway applies.
  const untilApplied = async (gateway: TestGateway, account: Account, allowance: number) => {
    services.answer((_req, res) => res.writeHead(500).end());
    await eventually(async () => {
      const { headers } = await get(gateway, account);
      expect(headers.get('x-allowance-limit')).toBe(String(allowance));
    });
    services.answer(undefined);
  };
  const setAllowance = (account: Account, allowance: number) =>
    billing.client.UpdateAccountBilling({ accountId: account.id }, { allowance });

  it('is served exactly and at once, whatever leases the gateway held before', async () => {
    const account = await givenAccount();
    await statuses(Array.from({ length: 3 }, () => get(a, account)));
    await setAllowance(account, 8);
    await untilApplied(a, account, 8);
    const statusOf: number[] = [];
    const shown: number[] = [];
    for (let call = 0; call < 7; call += 1) {
      const { status, headers } = await get(a, account);
      statusOf.push(status);
      shown.push(Number(headers.get('x-allowance-remaining')));
    }
    expect(statusOf).toEqual([200, 200, 200, 200, 200, 429, 429]);
    // Calls that are just being returned to billing are left out of the number.
    for (const [call, left] of [4, 3, 2, 1, 0, 0, 0].entries()) expect(shown[call]).toBeLessThanOrEqual(left);
    expect(shown).toEqual(shown.toSorted((x, y) => y - x));
    await eventually(async () => expect(await booked(account)).toBe(8));
  });

  it('is served exactly over two gateways that both held calls of the previous one', async () => {
    const account = await givenAccount();
    await statuses(Array.from({ length: 6 }, (_, i) => get(i % 2 ? a : b, account)));
    await setAllowance(account, 12);
    await untilApplied(a, account, 12);
    await untilApplied(b, account, 12);
    const counted = await statuses(Array.from({ length: 40 }, (_, i) => get(i % 2 ? a : b, account)));
    expect(counted).toEqual({ 200: 6, 429: 34 });
    await eventually(async () => expect(await booked(account)).toBe(12));
  });

  it('is never exceeded when it rises during calls at two gateways', async () => {
    const account = await givenAccount('free', 40);
    const calls = Array.from({ length: 200 }, (_, i) => getCounted(i % 2 ? a : b, account));
    for (const allowance of [60, 90, 120]) await setAllowance(account, allowance);
    const { 200: served = 0 } = await statuses(calls);
    expect(served).toBeLessThanOrEqual(120);
    await eventually(async () => expect(await booked(account)).toBe(served));
    await untilApplied(a, account, 120);
    const { 200: servedSince = 0 } = await statuses(Array.from({ length: 130 }, () => get(a, account)));
    expect(served + servedSince).toBe(120);
    await eventually(async () => expect(await booked(account)).toBe(120));
  });
});

describe('overdue payment', () => {
  it('blocks writes after 7 days, allows reads, and ends when payment arrives', async () => {
    const account = await givenAccount();
    let served = 0;
    const call = async (method: string, path: string) => {
      const answer = await callWith(a, account.token, method, path);
      if (answer.status === 200) served += 1;
      return answer;
    };
    const overdueSince = (days: number) =>
      billing.client.UpdateAccountBilling(
        { accountId: account.id },
        { billing_status: 'overdue', overdue_since: new Date(Date.now() - days * 86_400_000).toISOString() },
      );
    const write = (method = 'POST', path = '/api/v1/table_data') => call(method, path);
    expect((await call('GET', '/api/v1/domains')).status).toBe(200);
    await overdueSince(6.9);
    await eventually(async () => expect((await write()).status).toBe(200));
    await overdueSince(8);
    await eventually(async () => expect((await write()).status).toBe(402));
    const answer = await write();
    expect(await answer.json()).toEqual(
      refusal(
        'Payment overdue',
        'payment_overdue',
        'Payment is overdue by more than 7 days: changes are blocked until it arrives, reads work.',
      ),
    );
    for (const [method, path] of [
      ['POST', '/api/v1/table_data/grid'],
      ['PATCH', '/api/v1/table_data/7'],
      ['PUT', '/api/v1/imports/1/tables/1/file'],
      ['DELETE', '/api/v1/domains/7'],
    ])
      expect((await write(method, path)).status).toBe(402);
    for (const method of ['GET', 'HEAD']) expect((await call(method, '/api/v1/domains')).status).toBe(200);
    await billing.client.UpdateAccountBilling({ accountId: account.id }, { billing_status: 'current' });
    await eventually(async () => expect((await write()).status).toBe(200));
    await eventually(async () => expect(await booked(account)).toBe(served));
  });

  it('has another error text for a cancelled account', async () => {
    const account = await givenAccount();
    const write = () => callWith(a, account.token, 'POST', '/api/v1/table_data');
    await billing.client.UpdateAccountBilling({ accountId: account.id }, { billing_status: 'cancelled' });
    await eventually(async () => expect((await write()).status).toBe(402));
    expect(await (await write()).json()).toEqual(
      refusal('Payment overdue', 'account_cancelled', 'The account is cancelled: changes are blocked, reads work.'),
    );
    expect((await get(a, account)).status).toBe(200);
  });
});

describe('the end of the 7 days', () => {
  it('is known in advance: no write is admitted that begins a second after it', async () => {
    const account = await givenAccount();
    const endsAt = Date.now() + 2_000;
    const overdue_since = new Date(endsAt - 7 * 86_400_000).toISOString();
    await billing.client.UpdateAccountBilling({ accountId: account.id }, { billing_status: 'overdue', overdue_since });
    const writes: { status: number; begunAfterMs: number }[] = [];
    await eventually(async () => {
      const begunAfterMs = Date.now() - endsAt;
      const { status } = await callWith(a, account.token, 'POST', '/api/v1/table_data');
      writes.push({ status, begunAfterMs });
      expect(status).toBe(402);
    });
    expect(writes.filter(({ status, begunAfterMs }) => status === 200 && begunAfterMs > 1_000)).toEqual([]);
    expect(writes.filter(({ status }) => status !== 200)).toHaveLength(1);
    expect((await get(a, account)).status).toBe(200);
  });
});

describe('unreachable billing', () => {
  let proxy: TcpProxy;
  let gateway: TestGateway;
  beforeAll(async () => {
    proxy = await startTcpProxy(`http://${billingRpc}`);
    onEnd(() => proxy.stop());
    gateway = await startGateway({ billingRpc: `127.0.0.1:${proxy.port}`, graceCalls: 50 });
  });

  it('uses the lease, then a bounded grace, then answers 503; all calls are booked when billing is back', async () => {
    const account = await givenAccount();
    const newAccount = await givenAccount();
    expect((await get(gateway, account)).status).toBe(200);
    await proxy.cut();
    const counted = await statuses(Array.from({ length: 100 }, () => get(gateway, account)));
    expect(counted).toEqual({ 200: 69, 503: 31 }); // 19 of the lease, 50 of grace
    expect(await statuses(Array.from({ length: 60 }, () => get(gateway, newAccount)))).toEqual({ 200: 50, 503: 10 });
    expect((await get(gateway, account, '/api/v1/account')).status).toBe(503);
    await proxy.restore();
    await eventually(async () => expect(await booked(account)).toBe(70));
    await eventually(async () => expect(await booked(newAccount)).toBe(50));
    await eventually(async () => expect((await get(gateway, account)).status).toBe(200));
    await eventually(async () => expect(await booked(account)).toBe(71));
  });
});
