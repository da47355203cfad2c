import { randomUUID } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import { listAccountsWithExpiredLeases, reclaimExpiredLeases } from '../../src/leases/call-leases.ts';
import { createLeaseMaintenance } from '../../src/leases/lease-maintenance.ts';
import { type Billing, callOf, givenBilling } from '../given.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await givenBilling();
});
afterAll(() => billing.close());

describe('reserving calls', () => {
  it('never grants more than the allowance to 200 parallel requests of two gateways', async () => {
    const call = await billing.account('free', 150);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => billing.reserve(call, 20, i % 2 ? 'gateway-a' : 'gateway-b')),
    );
    const granted = answers.reduce((sum, answer) => sum + answer.granted, 0);
    expect(granted).toBe(150);
    expect((await billing.month(call)).reserved).toBe(150);
    expect(answers.filter((answer) => answer.granted === 0).every((answer) => answer.lease_id === '')).toBe(true);
  });

  it('grants the last call to one of 200', async () => {
    const call = await billing.account('free', 1);
    const answers = await Promise.all(Array.from({ length: 200 }, () => billing.reserve(call, 20)));
    expect(answers.filter((answer) => answer.granted > 0)).toHaveLength(1);
  });

  it('grants at most an eighth of the remaining calls, and single calls at the end', async () => {
    const call = await billing.account('free', 100);
    expect((await billing.reserve(call, 50)).granted).toBe(12);
    expect((await billing.reserve(call, 5)).granted).toBe(5);
    await billing.sql('update account_subscription set allowance = 20 where account_id = $1', [call.accountId]);
    const last = await billing.reserve(call, 50);
    expect([last.granted, last.remaining]).toEqual([1, 2]);
  });

  it('returns plan, period and clock with the grant', async () => {
    const call = await billing.account('business');
    const answer = await billing.reserve(call, 10);
    expect(answer).toMatchObject({ granted: 10, allowance: 45_000, remaining: 44_990, expires_in_seconds: 30 });
    expect(answer.billing).toMatchObject({ plan: 'business', branching_enabled: true, writes_blocked: false });
    const start = new Date(answer.period_start);
    const end = new Date(answer.period_end);
    expect(start.getUTCDate()).toBe(1);
    expect(end.getUTCDate()).toBe(1);
    const now = new Date(answer.server_time);
    expect(now >= start && now < end).toBe(true);
    const secondsLeft = (end.getTime() - now.getTime()) / 1000;
    expect(Math.abs(answer.period_ends_in_seconds - secondsLeft)).toBeLessThanOrEqual(1);
  });

  it('returns the calls that other gateways hold when it grants none', async () => {
    const call = await billing.account('free', 3);
    await billing.reserve(call, 1, 'gateway-a');
    await billing.reserve(call, 1, 'gateway-a');
    await billing.reserve(call, 1, 'gateway-b');
    expect(await billing.reserve(call, 5, 'gateway-b')).toMatchObject({ granted: 0, lease_id: '', held_elsewhere: 2 });
  });

  it('refuses an account whose books are not open', async () => {
    await expect(billing.reserve(callOf(999_999), 5)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('continues beyond the allowance with overage', async () => {
    const call = await billing.account('free', 5);
    await billing.sql('update account_subscription set overage_enabled = true where account_id = $1', [call.accountId]);
    const lease = await billing.reserve(call, 20);
    expect(lease).toMatchObject({ granted: 20, remaining: -15 });
    await billing.settle(call, { lease: lease.lease_id, sequence: 1, calls: 12, release: true });
    expect(await billing.month(call)).toEqual({ calls: 12, reserved: 0, overage_calls: 7 });
    const { rows } = await billing.sql(
      `select l.calls, r.plan, r.price_per_1000 from overage_line l join overage_rate r on r.id = l.overage_rate_id
       where l.account_id = $1`,
      [call.accountId],
    );
    expect(rows).toEqual([{ calls: 7, plan: 'free', price_per_1000: '2.0000' }]);
  });

  it('records overage at the rate at the grant', async () => {
    const call = await billing.account('plus', 0);
    await billing.sql('update account_subscription set overage_enabled = true where account_id = $1', [call.accountId]);
    const before = await billing.reserve(call, 4);
    // Timestamps are rounded to milliseconds, so `now()` could be half a millisecond in the future.
    await billing.sql(
      `insert into overage_rate (plan, currency, price_per_1000, valid_from)
       values ('plus', 'EUR', 9, now() - interval '1 millisecond')`,
    );
    const after = await billing.reserve(call, 6);
    await billing.settle(call, { lease: before.lease_id, sequence: 1, calls: 4, release: true });
    await billing.settle(call, { lease: after.lease_id, sequence: 1, calls: 6, release: true });
    const { rows } = await billing.sql(
      `select l.calls, r.currency from overage_line l join overage_rate r on r.id = l.overage_rate_id
       where l.account_id = $1 order by l.overage_rate_id`,
      [call.accountId],
    );
    expect(rows).toEqual([
      { calls: 4, currency: 'USD' },
      { calls: 6, currency: 'EUR' },
    ]);
  });
});

describe('settling calls', () => {
  it('books served calls and returns the rest', async () => {
    const call = await billing.account();
    const lease = await billing.reserve(call, 50);
    expect(await billing.settle(call, { lease: lease.lease_id, sequence: 1, calls: 20 })).toMatchObject({
      lease_open: true,
    });
    expect(await billing.month(call)).toMatchObject({ calls: 20, reserved: 30 });
    await billing.settle(call, { lease: lease.lease_id, sequence: 2, calls: 1, giveBack: 9 });
    expect(await billing.month(call)).toMatchObject({ calls: 21, reserved: 20 });
    const end = await billing.settle(call, { lease: lease.lease_id, sequence: 3, calls: 4, release: true });
    expect(end).toMatchObject({ lease_open: false });
    expect(await billing.month(call)).toMatchObject({ calls: 25, reserved: 0 });
  });

  it('books a repeated report once, even if the repeats run at the same time', async () => {
    const call = await billing.account();
    const { lease_id } = await billing.reserve(call, 50);
    const report = { lease: lease_id, sequence: 1, calls: 10 };
    await Promise.all(Array.from({ length: 20 }, () => billing.settle(call, report)));
    expect(await billing.month(call)).toMatchObject({ calls: 10, reserved: 40 });
    await billing.settle(call, { ...report, sequence: 2, release: true });
    await billing.settle(call, { ...report, sequence: 2, release: true });
    expect(await billing.month(call)).toMatchObject({ calls: 20, reserved: 0 });
  });

  it('reclaims an expired lease and still books its late report, once', async () => {
    const call = await billing.account('free', 80);
    const lease = await billing.reserve(call, 50);
    await billing.settle(call, { lease: lease.lease_id, sequence: 1, calls: 3 });
    await billing.sql(`update call_lease set expires_at = now() - interval '1 second' where id = $1`, [lease.lease_id]);
    expect(await listAccountsWithExpiredLeases(billing.sql, 100)).toContain(call.accountId);
    expect(await reclaimExpiredLeases(billing.sql, call.accountId)).toBe(1);
    expect(await reclaimExpiredLeases(billing.sql, call.accountId)).toBe(0);
    expect(await billing.month(call)).toMatchObject({ calls: 3, reserved: 0 });
    const late = { lease: lease.lease_id, sequence: 2, calls: 2 };
    expect(await billing.settle(call, late)).toMatchObject({ lease_open: false });
    await billing.settle(call, late);
    expect(await billing.month(call)).toMatchObject({ calls: 5, reserved: 0 });
  });

  it('grants the calls of an expired lease again at once', async () => {
    const call = await billing.account('free', 1);
    const lease = await billing.reserve(call, 1, 'gateway-a');
    expect((await billing.reserve(call, 1, 'gateway-b')).granted).toBe(0);
    await billing.sql(`update call_lease set expires_at = now() - interval '1 second' where id = $1`, [lease.lease_id]);
    expect((await billing.reserve(call, 1, 'gateway-b')).granted).toBe(1);
  });

  it('reclaims expired leases periodically', async () => {
    const call = await billing.account('free', 8);
    const { lease_id } = await billing.reserve(call, 1);
    const maintenance = createLeaseMaintenance({ ...billing.ctx, everyMs: 10 });
    await maintenance.start?.();
    await billing.sql(`update call_lease set expires_at = now() - interval '1 second' where id = $1`, [lease_id]);
    await eventually(async () => expect(await billing.month(call)).toMatchObject({ calls: 0, reserved: 0 }));
    await maintenance.stop?.();
  });

  it('renews leases after billing was down for longer than they live, so that gateways report first', async () => {
    const call = await billing.account('free', 1);
    const { lease_id } = await billing.reserve(call, 1);
    await billing.sql(`update call_lease set expires_at = now() - interval '1 hour' where id = $1`, [lease_id]);
    const maintenance = createLeaseMaintenance({ ...billing.ctx, everyMs: 10 });
    await maintenance.start?.();
    try {
      expect(await billing.reserve(call, 1, 'gateway-b')).toMatchObject({ granted: 0, held_elsewhere: 1 });
      expect(await billing.settle(call, { lease: lease_id, sequence: 1, calls: 1 })).toMatchObject({
        lease_open: true,
      });
      expect(await billing.month(call)).toMatchObject({ calls: 1, reserved: 0 });
    } finally {
      await maintenance.stop?.();
    }
  });

  it('a report renews the lease', async () => {
    const call = await billing.account();
    const { lease_id } = await billing.reserve(call, 5);
    await billing.sql(`update call_lease set expires_at = now() - interval '1 second' where id = $1`, [lease_id]);
    expect(await billing.settle(call, { lease: lease_id, sequence: 1, calls: 0 })).toMatchObject({ lease_open: true });
    expect(await reclaimExpiredLeases(billing.sql, call.accountId)).toBe(0);
  });

  it('books calls of a grace under the lease id that the gateway created', async () => {
    const call = await billing.account('free', 2);
    const lease = randomUUID();
    const grace = { lease, sequence: 1, calls: 5 };
    expect(await billing.settle(call, grace)).toMatchObject({ lease_open: false });
    await billing.settle(call, grace);
    await billing.settle(call, { ...grace, sequence: 2, calls: 1 });
    expect(await billing.month(call)).toEqual({ calls: 6, reserved: 0, overage_calls: 0 });
    expect((await billing.reserve(call, 5)).granted).toBe(0);
  });

  it("does not touch another account's lease", async () => {
    const mine = await billing.account();
    const theirs = await billing.account();
    const { lease_id } = await billing.reserve(theirs, 5);
    await expect(billing.settle(mine, { lease: lease_id, sequence: 1, calls: 5, release: true })).rejects.toMatchObject(
      { kind: 'not_found' },
    );
    expect(await billing.month(theirs)).toMatchObject({ calls: 0, reserved: 5 });
    expect(await billing.month(mine)).toMatchObject({ calls: 0, reserved: 0 });
  });

  it('counts a call in the month of its lease, for any reported day', async () => {
    const call = await billing.account();
    const { lease_id } = await billing.reserve(call, 5);
    await billing.settle(call, { lease: lease_id, sequence: 1, calls: 2, day: '2001-01-31' });
    const { rows } = await billing.sql(
      `select d.day = date_trunc('month', now() at time zone 'UTC')::date as first, d.calls from daily_usage d where account_id = $1`,
      [call.accountId],
    );
    expect(rows).toEqual([{ first: true, calls: 2 }]);
  });

  it.each([
    ['a malformed lease id', { lease: 'x', sequence: 1 }],
    ['sequence 0', { lease: randomUUID(), sequence: 0 }],
    ['a negative count', { lease: randomUUID(), sequence: 1, calls: -1 }],
    ['a day that does not exist', { lease: randomUUID(), sequence: 1, calls: 1, day: '2026-02-30' }],
  ])('refuses %s', async (_case, report) => {
    const call = await billing.account();
    await expect(billing.settle(call, report)).rejects.toMatchObject({ kind: 'bad_request' });
  });

  it('announces 80 % and 100 % of the allowance once each', async () => {
    const call = await billing.account('free', 10);
    const thresholds = async () => {
      const { rows } = await billing.sql(
        `select payload ->> 'percent' as percent from outbox
         where type = 'billing.allowance.reached' and (payload ->> 'account_id')::int = $1 order by id`,
        [call.accountId],
      );
      return rows.map((row) => row.percent);
    };
    const lease = randomUUID();
    await billing.settle(call, { lease, sequence: 1, calls: 7 });
    expect(await thresholds()).toEqual([]);
    await billing.settle(call, { lease, sequence: 2, calls: 1 });
    await billing.settle(call, { lease, sequence: 3, calls: 1 });
    expect(await thresholds()).toEqual(['80']);
    await billing.settle(call, { lease, sequence: 4, calls: 5 });
    expect(await thresholds()).toEqual(['80', '100']);
  });
});

it('books exactly the calls of random gateways, and never grants beyond the allowance', async () => {
  const call = await billing.account('free', 400);
  let served = 0;
  const gateway = async (name: string) => {
    for (let round = 0; round < 40; round += 1) {
      const lease = await billing.reserve(call, 1 + Math.floor(Math.random() * 30), name);
      if (lease.granted === 0) continue;
      let left = lease.granted;
      for (let sequence = 1; ; sequence += 1) {
        const calls = Math.floor(Math.random() * (left + 1));
        left -= calls;
        served += calls;
        const release = Math.random() < 0.5;
        const report = { lease: lease.lease_id, sequence, calls, release };
        await billing.settle(call, report);
        if (Math.random() < 0.3) await billing.settle(call, report);
        if (release) break;
      }
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(gateway));
  const month = await billing.month(call);
  expect(month).toEqual({ calls: served, reserved: 0, overage_calls: 0 });
  expect(served).toBeLessThanOrEqual(400);
  const { rows } = await billing.sql('select sum(calls)::bigint as calls from daily_usage where account_id = $1', [
    call.accountId,
  ]);
  expect(rows[0]?.calls).toBe(served);
});
