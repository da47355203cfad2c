import { ServiceError } from '@almanac/service-kit/errors';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { eventually } from '@almanac/testkit/eventually';
import { AccountMeter, type Ticket } from './account-meter.ts';
import type { BillingClient } from './call-lease.ts';

type Month = { start: string; endsInMs: number };
type Booked = { lease: string; calls: number; sequence: number };

const facts = { method: 'GET', resource: 'domains', applicationId: 1 };
const monthsAway = (months: number) =>
  new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + months)).toISOString();

/** A fake of billing whose month, failures and delays the tests set. */
function fakeBilling() {
  const booked: Booked[] = [];
  const seen = new Set<string>();
  const fake = {
    booked,
    months: [{ start: monthsAway(0), endsInMs: 60_000 }] as Month[],
    granted: 20,
    held: 0,
    reserves: 0,
    failReserve: false,
    writesBlocked: false,
    /** Answers to reservations wait for this. */
    reserveArrives: Promise.resolve(),
    /** `lost`: the report is booked, its answer is lost. */
    settle: 'works' as 'works' | 'fails' | 'lost',
    leaseSeconds: 30,
    /** Answers to reports wait for this. */
    settleArrives: Promise.resolve(),
    onReturned: (_calls: number) => {},
    client: {} as BillingClient,
    calls: () => booked.reduce((sum, each) => sum + each.calls, 0),
  };
  fake.client = {
    ReserveCalls: async () => {
      fake.reserves += 1;
      if (fake.failReserve) throw new ServiceError('unavailable', 'unreachable');
      const [month] = fake.months;
      const now = Date.now();
      const answer = {
        lease_id: fake.granted > 0 ? `lease-${fake.reserves}` : '',
        granted: fake.granted,
        expires_at: '',
        expires_in_seconds: fake.leaseSeconds,
        allowance: 1_000,
        remaining: 500,
        period_start: month?.start ?? '',
        period_end: new Date(now + (month?.endsInMs ?? 0)).toISOString(),
        period_ends_in_seconds: 0,
        held_elsewhere: fake.held,
        server_time: new Date(now).toISOString(),
        billing: {
          writes_blocked: fake.writesBlocked,
          writes_blocked_in_seconds: 0,
          allowance: 1_000,
          branching_enabled: false,
        } as never,
      };
      await fake.reserveArrives;
      return answer;
    },
    SettleCalls: async (_call, request) => {
      if (fake.settle === 'fails') throw new ServiceError('unavailable', 'unreachable');
      const key = `${request.lease_id} ${request.sequence}`;
      if (!seen.has(key)) {
        seen.add(key);
        const calls = (request.served ?? []).reduce((sum, part) => sum + Number(part.calls), 0);
        booked.push({ lease: String(request.lease_id), calls, sequence: Number(request.sequence) });
        fake.onReturned(Number(request.give_back));
      }
      await fake.settleArrives;
      if (fake.settle === 'lost') throw new ServiceError('unavailable', 'unreachable');
      return { lease_open: !request.release, expires_in_seconds: fake.leaseSeconds };
    },
  };
  return fake;
}

const realNow = performance.now.bind(performance);
let laterMs = 0;
beforeAll(() => {
  performance.now = () => realNow() + laterMs;
});
beforeEach(() => {
  laterMs = 0;
});
afterAll(() => {
  performance.now = realNow;
});

function given() {
  const billing = fakeBilling();
  const logger = createLogger('gateway', 'silent');
  const options = { gatewayId: 'g', graceCalls: 5, reserveDeadlineMs: 2_000, logger };
  const meter = new AccountMeter(1, { billing: billing.client, ...options });
  const serve = async (status = 200) => {
    const ticket = await meter.admit(false);
    meter.count(ticket, status, facts);
    return ticket;
  };
  return { billing, meter, serve };
}

it('counts each call in the month of its lease', async () => {
  const { billing, meter, serve } = given();
  billing.months = [{ start: monthsAway(0), endsInMs: 20_000 }];
  const straddling = await meter.admit(false);
  await serve();
  laterMs = 20_001;
  billing.months = [{ start: monthsAway(1), endsInMs: 60_000 }];
  await serve();
  meter.count(straddling, 200, facts);
  await meter.close();
  const perLease = new Map<string, number>();
  for (const { lease, calls } of billing.booked) perLease.set(lease, (perLease.get(lease) ?? 0) + calls);
  expect(Object.fromEntries(perLease)).toEqual({ 'lease-1': 2, 'lease-2': 1 });
});

it('repeats a report whose answer was lost unchanged, and sends later calls in another report', async () => {
  const { billing, meter, serve } = given();
  await serve();
  billing.settle = 'lost';
  await expect(meter.settle()).rejects.toMatchObject({ kind: 'unavailable' });
  await serve();
  billing.settle = 'fails';
  await expect(meter.settle()).rejects.toMatchObject({ kind: 'unavailable' });
  billing.settle = 'works';
  await meter.close();
  expect(billing.booked.filter(({ calls }) => calls > 0)).toEqual([
    { lease: 'lease-1', calls: 1, sequence: 1 },
    { lease: 'lease-1', calls: 1, sequence: 2 },
  ]);
});

it('makes one request to billing for many waiting calls', async () => {
  const { billing, meter } = given();
  await Promise.all(Array.from({ length: 9 }, () => meter.admit(false)));
  expect(billing.reserves).toBe(1);
});

it('requests the next lease before this one is used up', async () => {
  const { billing, meter } = given();
  await meter.admit(false);
  for (let i = 0; i < 12; i += 1) meter.tryAdmit(false);
  expect(billing.reserves).toBe(2);
});

it('uses a short lease on after a report, as after its reservation', async () => {
  const { billing, meter, serve } = given();
  billing.leaseSeconds = 2;
  await serve();
  await meter.settle();
  await serve();
  expect(billing.reserves).toBe(1);
});

it('ends each ticket once', async () => {
  const { billing, meter } = given();
  const ticket: Ticket = await meter.admit(false);
  meter.count(ticket, 200, facts);
  meter.count(ticket, 200, facts);
  meter.putBack(ticket);
  await meter.close();
  expect(billing.calls()).toBe(1);
});

it('does not ask billing again for each refused call', async () => {
  const { billing, meter } = given();
  billing.granted = 0;
  for (let i = 0; i < 50; i += 1)
    await expect(meter.admit(false)).rejects.toMatchObject({ kind: 'allowance_exceeded' });
  expect(billing.reserves).toBe(1);
});

it('waits a bounded time for calls that other gateways hold', async () => {
  const { billing, meter } = given();
  billing.granted = 0;
  billing.held = 1;
  const waiting = meter.admit(false);
  await eventually(() => expect(billing.reserves).toBeGreaterThan(1));
  billing.granted = 1;
  await expect(waiting).resolves.toBeDefined();
  billing.granted = 0;
  await expect(meter.admit(false)).rejects.toMatchObject({ kind: 'allowance_exceeded' });
});

describe('a change of the account', () => {
  it.each([
    ['ends', true, false],
    ['begins', false, true],
  ])('is not lost when an answer from before it arrives after it: a block of writes %s', async (_, was, is) => {
    const { billing, meter } = given();
    const arrival = Promise.withResolvers<void>();
    billing.writesBlocked = was;
    billing.reserveArrives = arrival.promise;
    const write = meter.admit(true).then(
      ({ lease }) => lease.terms.id,
      (error: ServiceError) => error.kind,
    );
    billing.writesBlocked = is;
    meter.invalidate();
    arrival.resolve();
    expect(await write).toBe(is ? 'payment_overdue' : 'lease-2');
    expect(billing.reserves).toBe(2);
  });

  it('uses no calls of a lease that was granted before it', async () => {
    const { billing, meter, serve } = given();
    const arrival = Promise.withResolvers<void>();
    billing.reserveArrives = arrival.promise;
    const first = serve();
    meter.invalidate();
    arrival.resolve();
    expect((await first).lease.terms.id).toBe('lease-2');
    await meter.close();
    expect(billing.booked.map(({ lease, calls }) => [lease, calls])).toEqual([
      ['lease-1', 0],
      ['lease-2', 1],
    ]);
  });
});

describe('returned calls', () => {
  const givenAllHeldHere = async () => {
    const all = given();
    const { billing, meter, serve } = all;
    await serve();
    meter.invalidate();
    billing.granted = 0;
    billing.onReturned = (calls) => {
      billing.granted = Math.min(calls, 1);
    };
    return all;
  };

  it('are returned before a call is refused', async () => {
    const { billing, meter, serve } = await givenAllHeldHere();
    await serve();
    expect(billing.reserves).toBe(3);
    await meter.close();
    expect(billing.calls()).toBe(2);
  });

  it('are awaited when their report is already pending', async () => {
    const { billing, meter, serve } = await givenAllHeldHere();
    const arrival = Promise.withResolvers<void>();
    billing.settleArrives = arrival.promise;
    billing.onReturned = () => {};
    meter.maintain(performance.now());
    const second = serve();
    await eventually(() => expect(billing.reserves).toBe(2));
    billing.granted = 1;
    arrival.resolve();
    await expect(second).resolves.toBeDefined();
  });

  it('do not count as used up when their report fails', async () => {
    const { billing, serve } = await givenAllHeldHere();
    billing.settle = 'fails';
    const second = serve();
    await eventually(() => expect(billing.reserves).toBeGreaterThan(2));
    billing.settle = 'works';
    await expect(second).resolves.toBeDefined();
  });

  it('end the refusal of calls', async () => {
    const { billing, meter, serve } = given();
    const lasting = await serve().then(() => meter.admit(false));
    meter.invalidate();
    billing.granted = 0;
    await expect(serve()).rejects.toMatchObject({ kind: 'allowance_exceeded' });
    billing.onReturned = (calls) => {
      billing.granted = calls;
    };
    meter.count(lasting, 500, facts);
    meter.maintain(performance.now());
    await eventually(() => expect(billing.granted).toBeGreaterThan(0));
    await expect(serve()).resolves.toBeDefined();
  });

  it('are shown as remaining throughout', async () => {
    const { billing, meter, serve } = given();
    await serve();
    const remaining = () => meter.headers()['X-Allowance-Remaining'];
    expect(remaining()).toBe('519');
    const arrival = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    billing.settleArrives = arrival.promise;
    billing.onReturned = () => sent.resolve();
    laterMs = 15_000;
    meter.maintain(performance.now());
    await sent.promise;
    expect(remaining()).toBe('519');
    arrival.resolve();
    await eventually(() => expect(meter.maintain(performance.now())).toBe(false));
    expect(remaining()).toBe('519');
  });

  it('are shown as remaining once, even if their report is sent twice', async () => {
    const { billing, meter, serve } = given();
    await serve();
    billing.settle = 'lost';
    laterMs = 15_000;
    meter.maintain(performance.now());
    await eventually(() => expect(billing.calls()).toBe(1));
    await serve(); // its answer includes the returned calls
    billing.settle = 'works';
    await meter.close();
    expect(meter.headers()['X-Allowance-Remaining']).toBe('519');
  });

  it('are shown as remaining once, even if the answer to a concurrent reservation includes them as well', async () => {
    const { billing, meter, serve } = given();
    await serve();
    meter.invalidate();
    const [reserveArrival, settleArrival] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    billing.reserveArrives = reserveArrival.promise;
    billing.settleArrives = settleArrival.promise;
    const second = serve();
    meter.maintain(performance.now());
    reserveArrival.resolve();
    await second;
    settleArrival.resolve();
    await meter.settle();
    expect(meter.headers()['X-Allowance-Remaining']).toBe('519');
  });
});

it('serves a bounded number of calls while billing is unreachable, and reports them later', async () => {
  const { billing, meter, serve } = given();
  billing.failReserve = true;
  for (let i = 0; i < 5; i += 1) await serve();
  await expect(meter.admit(false)).rejects.toMatchObject({ kind: 'unavailable' });
  await meter.close();
  expect(billing.calls()).toBe(5);
});
