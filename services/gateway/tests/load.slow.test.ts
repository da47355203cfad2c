// More than there is room for: one account gets no more than its share (BIL-12), and a gateway that has too much to do says so early, while
// who watches over it still hears from it (R43).
import { eventually } from '@almanac/testkit/eventually';
import { callWith, statuses, type TestConfig, type TestGateway, times } from './given.ts';
import { useNeighbours } from './neighbours.ts';
import { lines, open } from './raw.ts';

const { services, identity, billing, startGateway } = useNeighbours();
let token: string;
let gateway: TestGateway;
beforeAll(async () => {
  token = await identity.token();
});

async function given(config: TestConfig): Promise<TestGateway> {
  gateway = await startGateway(config);
  return gateway;
}

const call = (as = token, init: RequestInit = {}) => callWith(gateway, as, 'GET', '/api/v1/domains', init);
const state = async (path: string) => (await fetch(`${gateway.url}${path}`)).status;

async function expectRefused(answer: Response, status: number, error: string): Promise<number> {
  const body = await answer.json();
  expect([answer.status, body]).toEqual([status, { error, errors: [expect.any(String)] }]);
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  return seconds;
}

describe('an account', () => {
  it('makes so many calls in ten seconds and not one more; others are served, and none of it counts', async () => {
    const most = 5;
    const before = billing.calls();
    const { stop } = await given({ limits: { accountBurst: most } });
    expect(await statuses(times(most, () => call()))).toEqual(Array(most).fill(200));
    const refused = await call();
    expect(await expectRefused(refused, 429, 'Too many requests')).toBeLessThanOrEqual(10);
    const other = await identity.token({ account_id: 2 });
    expect((await call(other)).status).toBe(200);
    let inVain = 0;
    await eventually(async () => {
      const { status } = await call();
      if (status !== 200) inVain += 1;
      expect(status).toBe(200);
    });
    expect(inVain).toBeGreaterThan(0);
    await stop();
    expect(billing.calls() - before).toBe(most + 2);
  });

  it('has so many calls under way and not one more, gets the places back of those that end, and takes none of others', async () => {
    const most = 3;
    await given({ limits: { callerRequests: most } });
    services.hold();
    const slow = times(most, () => call());
    await eventually(() => expect(services.held).toHaveLength(most));
    await expectRefused(await call(), 429, 'Too many requests');
    const other = call(await identity.token({ account_id: 2 }));
    await eventually(() => expect(services.held).toHaveLength(most + 1));
    services.release();
    expect(await statuses(slow)).toEqual(Array(most).fill(200));
    expect((await other).status).toBe(200);
    await eventually(async () => expect((await call()).status).toBe(200));
  });

  it('shares places with nobody: who asks without a token has his own, as many', async () => {
    const most = 3;
    await given({ limits: { callerRequests: most } });
    services.hold();
    const authorize = () => fetch(`${gateway.url}/.well-known/oauth-authorization-server`);
    const slow = times(most, authorize);
    await eventually(() => expect(services.held).toHaveLength(most));
    await expectRefused(await authorize(), 429, 'Too many requests');
    const own = call();
    await eventually(() => expect(services.held).toHaveLength(most + 1));
    services.release();
    expect(await statuses(slow)).toEqual(Array(most).fill(200));
    expect((await own).status).toBe(200);
  });

  it('gets the places back of clients that hang up, wherever they were', async () => {
    const most = 3;
    await given({ limits: { callerRequests: most } });
    for (let round = 0; round < 5; round += 1) {
      services.hold();
      const abort = new AbortController();
      const gone = times(most, () => call(token, { signal: abort.signal }).catch(() => undefined));
      if (round > 0) await eventually(() => expect(services.held).toHaveLength(most));
      abort.abort();
      await gone;
      services.release();
      await eventually(async () => expect(await statuses(times(most, () => call()))).toEqual(Array(most).fill(200)));
    }
    // Gone while a token is looked at that was never seen before.
    const tokens = await Promise.all(Array.from({ length: 50 }, () => identity.token()));
    for (const fresh of tokens) {
      const socket = open(gateway);
      const head = lines('GET /api/v1/domains HTTP/1.1', 'Host: a', `Authorization: Bearer ${fresh}`);
      await new Promise((sent) => socket.write(head, sent));
      socket.destroy();
    }
    await eventually(async () => expect(await statuses(times(most, () => call()))).toEqual(Array(most).fill(200)));
  });
});

describe('a gateway', () => {
  it('has so many requests under way and not one more; its health is told all the same', async () => {
    const most = 4;
    const { metrics } = await given({ limits: { requests: most } });
    services.hold();
    const slow = times(most, () => call());
    await eventually(() => expect(services.held).toHaveLength(most));
    await expectRefused(await call(), 503, 'Service unavailable');
    expect(await state('/openapi.json')).toBe(503);
    expect([await state('/healthz'), await state('/readyz')]).toEqual([200, 200]);
    await eventually(async () => expect(await metrics()).toMatch(/^almanac_gateway_open_exchanges\S* 4$/m));
    services.release();
    expect(await statuses(slow)).toEqual(Array(most).fill(200));
    await eventually(async () => expect((await call()).status).toBe(200));
  });

  it('whose event loop is late refuses early and is not ready, but is alive, and recovers', async () => {
    await given({ common: { loopDelayMs: 100 } });
    expect((await call()).status).toBe(200);
    const busy = setInterval(() => {
      const until = performance.now() + 250;
      while (performance.now() < until);
    }, 1);
    try {
      await eventually(async () => expectRefused(await call(), 503, 'Service unavailable'));
      await eventually(async () => expect([await state('/healthz'), await state('/readyz')]).toEqual([200, 503]));
    } finally {
      clearInterval(busy);
    }
    await eventually(async () => expect([(await call()).status, await state('/readyz')]).toEqual([200, 200]));
  });

  it('that was busy for two seconds serves what came meanwhile, and is alive and ready', async () => {
    await given({ common: { loopDelayMs: 1_000 } });
    const answers = statuses(times(20, () => call()));
    const until = performance.now() + 2_000;
    while (performance.now() < until);
    expect(await answers).toEqual(Array(20).fill(200));
    expect([await state('/healthz'), await state('/readyz')]).toEqual([200, 200]);
  });
});
