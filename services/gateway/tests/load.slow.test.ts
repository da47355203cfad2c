// Overload: one account can't exceed its share (BIL-12), and an overloaded gateway sheds load early
// and still answers health checks (R43).
import { refusalFault } from '@almanac/testkit/calls/refusal';
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
  const body = (await answer.json()) as { error: string };
  expect([answer.status, body.error, refusalFault(body)]).toEqual([status, error, undefined]);
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  return seconds;
}

describe('an account', () => {
  it('has a limit of calls in ten seconds; others are served, and refused calls do not count', async () => {
    const max = 5;
    const before = billing.calls();
    const { stop } = await given({ limits: { accountBurst: max } });
    expect(await statuses(times(max, () => call()))).toEqual(Array(max).fill(200));
    const refused = await call();
    expect(await expectRefused(refused, 429, 'Too many requests')).toBeLessThanOrEqual(10);
    const other = await identity.token({ account_id: 2 });
    expect((await call(other)).status).toBe(200);
    let refusals = 0;
    await eventually(async () => {
      const { status } = await call();
      if (status !== 200) refusals += 1;
      expect(status).toBe(200);
    });
    expect(refusals).toBeGreaterThan(0);
    await stop();
    expect(billing.calls() - before).toBe(max + 2);
  });

  it('has a limit of calls in flight, which ended calls free and which other accounts do not share', async () => {
    const max = 3;
    await given({ limits: { callerRequests: max } });
    services.hold();
    const slow = times(max, () => call());
    await eventually(() => expect(services.held).toHaveLength(max));
    await expectRefused(await call(), 429, 'Too many requests');
    const other = call(await identity.token({ account_id: 2 }));
    await eventually(() => expect(services.held).toHaveLength(max + 1));
    services.release();
    expect(await statuses(slow)).toEqual(Array(max).fill(200));
    expect((await other).status).toBe(200);
    await eventually(async () => expect((await call()).status).toBe(200));
  });

  it('does not share its limit with requests without a token, which have their own', async () => {
    const max = 3;
    await given({ limits: { callerRequests: max } });
    services.hold();
    const authorize = () => fetch(`${gateway.url}/.well-known/oauth-authorization-server`);
    const slow = times(max, authorize);
    await eventually(() => expect(services.held).toHaveLength(max));
    await expectRefused(await authorize(), 429, 'Too many requests');
    const own = call();
    await eventually(() => expect(services.held).toHaveLength(max + 1));
    services.release();
    expect(await statuses(slow)).toEqual(Array(max).fill(200));
    expect((await own).status).toBe(200);
  });

  it('can use the places of clients that disconnected, at any stage', async () => {
    const max = 3;
    await given({ limits: { callerRequests: max } });
    for (let round = 0; round < 5; round += 1) {
      services.hold();
      const abort = new AbortController();
      const aborted = times(max, () => call(token, { signal: abort.signal }).catch(() => undefined));
      if (round > 0) await eventually(() => expect(services.held).toHaveLength(max));
      abort.abort();
      await aborted;
      services.release();
      await eventually(async () => expect(await statuses(times(max, () => call()))).toEqual(Array(max).fill(200)));
    }
    // These clients disconnect while the gateway verifies a token that is not cached.
    const tokens = await Promise.all(Array.from({ length: 50 }, () => identity.token()));
    for (const fresh of tokens) {
      const socket = open(gateway);
      const head = lines('GET /api/v1/domains HTTP/1.1', 'Host: a', `Authorization: Bearer ${fresh}`);
      await new Promise((sent) => socket.write(head, sent));
      socket.destroy();
    }
    await eventually(async () => expect(await statuses(times(max, () => call()))).toEqual(Array(max).fill(200)));
  });
});

describe('a gateway', () => {
  it('has a limit of requests in flight, and still answers health checks beyond it', async () => {
    const max = 4;
    const { metrics } = await given({ limits: { requests: max } });
    services.hold();
    const slow = times(max, () => call());
    await eventually(() => expect(services.held).toHaveLength(max));
    await expectRefused(await call(), 503, 'Service unavailable');
    expect(await state('/openapi.json')).toBe(503);
    expect([await state('/healthz'), await state('/readyz')]).toEqual([200, 200]);
    await eventually(async () => expect(await metrics()).toMatch(/^almanac_gateway_requests_in_flight\S* 4$/m));
    services.release();
    expect(await statuses(slow)).toEqual(Array(max).fill(200));
    await eventually(async () => expect((await call()).status).toBe(200));
  });

  it('whose event loop is late sheds load and is not ready, but is alive, and recovers', async () => {
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

  it('that was blocked for two seconds then serves all requests, and is alive and ready', async () => {
    await given({ common: { loopDelayMs: 1_000 } });
    const answers = statuses(times(20, () => call()));
    const until = performance.now() + 2_000;
    while (performance.now() < until);
    expect(await answers).toEqual(Array(20).fill(200));
    expect([await state('/healthz'), await state('/readyz')]).toEqual([200, 200]);
  });
});
