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

/** Billing as the meter sees it, with a month that a test can end and failures it can order. */
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
    /** Answers to reservations are on their way until this. */
    reserveArrives: Promise.resolve(),
    /** `lost`: the report is booked, the answer does not come. */
    settle: 'works' as 'works' | 'fails' | 'lost',
    /** Answers to reports are on their way until this. */
    settleArrives: Promise.resolve(),
    onGivenBack: (_calls: number) => {},
    client: {} as BillingClient,
    calls: () => booked.reduce((sum, each) => sum + each.calls, 0),
  };
  fake.client = {
    ReserveCalls: async () => {
      fake.reserves += 1;
      if (fake.failReserve) throw new ServiceError('unavailable', 'away');
      const [month] = fake.months;
      const now = Date.now();
      const answer = {
        lease_id: fake.granted > 0 ? `lease-${fake.reserves}` : '',
        granted: fake.granted,
        expires_at: '',
        expires_in_seconds: 30,
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
      if (fake.settle === 'fails') throw new ServiceError('unavailable', 'away');
      const key = `${request.lease_id} ${request.sequence}`;
      if (!seen.has(key)) {
        seen.add(key);
        const calls = (request.served ?? []).reduce((sum, part) => sum + Number(part.calls), 0);
        booked.push({ lease: String(request.lease_id), calls, sequence: Number(request.sequence) });
        fake.onGivenBack(Number(request.give_back));
      }
      await fake.settleArrives;
      if (fake.settle === 'lost') throw new ServiceError('unavailable', 'away');
      return { lease_open: !request.release, expires_in_seconds: 30 };
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
    meter.answered(ticket, status, facts);
    return ticket;
  };
  return { billing, meter, serve };
}

it('counts each call in the month of the lease it was let in with', async () => {
  const { billing, meter, serve } = given();
  billing.months = [{ start: monthsAway(0), endsInMs: 20_000 }];
  const straddling = await meter.admit(false);
  await serve();
  laterMs = 20_001;
  billing.months = [{ start: monthsAway(1), endsInMs: 60_000 }];
  await serve();
  meter.answered(straddling, 200, facts);
  await meter.close();
  const perLease = new Map<string, number>();
  for (const { lease, calls } of billing.booked) perLease.set(lease, (perLease.get(lease) ?? 0) + calls);
  expect(Object.fromEntries(perLease)).toEqual({ 'lease-1': 2, 'lease-2': 1 });
});

it('sends a report whose answer was lost again as it was, and what came since in another one', async () => {
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

it('asks billing once for many calls that wait', async () => {
  const { billing, meter } = given();
  await Promise.all(Array.from({ length: 9 }, () => meter.admit(false)));
  expect(billing.reserves).toBe(1);
});

it('fetches the next lease before the last call of this one is handed out', async () => {
  const { billing, meter } = given();
  await meter.admit(false);
  for (let i = 0; i < 12; i += 1) meter.tryAdmit(false);
  expect(billing.reserves).toBe(2);
});

it('ends each ticket once, however often it is told', async () => {
  const { billing, meter } = given();
  const ticket: Ticket = await meter.admit(false);
  meter.answered(ticket, 200, facts);
  meter.answered(ticket, 200, facts);
  meter.putBack(ticket);
  await meter.close();
  expect(billing.calls()).toBe(1);
});

it('does not ask billing for each call it refuses', async () => {
  const { billing, meter } = given();
  billing.granted = 0;
  for (let i = 0; i < 50; i += 1)
    await expect(meter.admit(false)).rejects.toMatchObject({ kind: 'allowance_exceeded' });
  expect(billing.reserves).toBe(1);
});

it('waits a moment for calls other gateways hold, not for ever', async () => {
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
  ])('is not lost when billing answered before it and the answer comes after: a block that %s', async (_, was, is) => {
    const { billing, meter } = given();
    const arrival = Promise.withResolvers<void>();
    billing.writesBlocked = was;
    billing.reserveArrives = arrival.promise;
    const write = meter.admit(true).then(
      ({ lease }) => lease.terms.id,
      (error: ServiceError) => error.kind,
    );
    billing.writesBlocked = is;
    meter.forget();
    arrival.resolve();
    expect(await write).toBe(is ? 'payment_overdue' : 'lease-2');
    expect(billing.reserves).toBe(2);
  });

  it('takes no calls from a lease that was granted before it', async () => {
    const { billing, meter, serve } = given();
    const arrival = Promise.withResolvers<void>();
    billing.reserveArrives = arrival.promise;
    const first = serve();
    meter.forget();
    arrival.resolve();
    expect((await first).lease.terms.id).toBe('lease-2');
    await meter.close();
    expect(billing.booked.map(({ lease, calls }) => [lease, calls])).toEqual([
      ['lease-1', 0],
      ['lease-2', 1],
    ]);
  });
});

describe('calls that go back', () => {
  const givenAllHeldHere = async () => {
    const all = given();
    const { billing, meter, serve } = all;
    await serve();
    meter.forget();
    billing.granted = 0;
    billing.onGivenBack = (calls) => {
      billing.granted = Math.min(calls, 1);
    };
    return all;
  };

  it('are given back before anybody is refused for want of them', async () => {
    const { billing, meter, serve } = await givenAllHeldHere();
    await serve();
    expect(billing.reserves).toBe(3);
    await meter.close();
    expect(billing.calls()).toBe(2);
  });

  it('are waited for when they are on their way already', async () => {
    const { billing, meter, serve } = await givenAllHeldHere();
    const arrival = Promise.withResolvers<void>();
    billing.settleArrives = arrival.promise;
    billing.onGivenBack = () => {};
    meter.tick(performance.now());
    const second = serve();
    await eventually(() => expect(billing.reserves).toBe(2));
    billing.granted = 1;
    arrival.resolve();
    await expect(second).resolves.toBeDefined();
  });

  it('are not taken for used up when the report of them does not get through', async () => {
    const { billing, serve } = await givenAllHeldHere();
    billing.settle = 'fails';
    const second = serve();
    await eventually(() => expect(billing.reserves).toBeGreaterThan(2));
    billing.settle = 'works';
    await expect(second).resolves.toBeDefined();
  });

  it('end a refusal', async () => {
    const { billing, meter, serve } = given();
    const lasting = await serve().then(() => meter.admit(false));
    meter.forget();
    billing.granted = 0;
    await expect(serve()).rejects.toMatchObject({ kind: 'allowance_exceeded' });
    billing.onGivenBack = (calls) => {
      billing.granted = calls;
    };
    meter.answered(lasting, 500, facts);
    meter.tick(performance.now());
    await eventually(() => expect(billing.granted).toBeGreaterThan(0));
    await expect(serve()).resolves.toBeDefined();
  });

  it('are shown as left all the while', async () => {
    const { billing, meter, serve } = given();
    await serve();
    const left = () => meter.headers()['X-Allowance-Remaining'];
    expect(left()).toBe('519');
    const arrival = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    billing.settleArrives = arrival.promise;
    billing.onGivenBack = () => sent.resolve();
    laterMs = 15_000;
    meter.tick(performance.now());
    await sent.promise;
    expect(left()).toBe('519');
    arrival.resolve();
    await eventually(() => expect(meter.tick(performance.now())).toBe(false));
    expect(left()).toBe('519');
  });

  it('are shown as left once, though the report of them is sent twice', async () => {
    const { billing, meter, serve } = given();
    await serve();
    billing.settle = 'lost';
    laterMs = 15_000;
    meter.tick(performance.now());
    await eventually(() => expect(billing.calls()).toBe(1));
    await serve(); // told of the calls that came back
    billing.settle = 'works';
    await meter.close();
    expect(meter.headers()['X-Allowance-Remaining']).toBe('519');
  });

  it('are shown as left once, though a reservation crosses the report of them and tells of them too', async () => {
    const { billing, meter, serve } = given();
    await serve();
    meter.forget();
    const [reserveArrival, settleArrival] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    billing.reserveArrives = reserveArrival.promise;
    billing.settleArrives = settleArrival.promise;
    const second = serve();
    meter.tick(performance.now());
    reserveArrival.resolve();
    await second;
    settleArrival.resolve();
    await meter.settle();
    expect(meter.headers()['X-Allowance-Remaining']).toBe('519');
  });
});

it('goes on with a bounded grace when billing is away, and tells it later', async () => {
  const { billing, meter, serve } = given();
  billing.failReserve = true;
  for (let i = 0; i < 5; i += 1) await serve();
  await expect(meter.admit(false)).rejects.toMatchObject({ kind: 'unavailable' });
  await meter.close();
  expect(billing.calls()).toBe(5);
});
