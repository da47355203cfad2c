import fc from 'fast-check';
import { updateAccountBilling } from '../../src/accounts/account-changes.ts';
import { addOverageRate, listOverageRates } from '../../src/statements/overage-rates.ts';
import { readStatement } from '../../src/statements/statement.ts';
import { type Billing, callOf, givenBilling } from '../given.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await givenBilling();
});
afterAll(() => billing.close());

const update = (accountId: number, changes: object) =>
  updateAccountBilling(billing.ctx, callOf(accountId, 'operator'), changes);
const statementOf = (accountId: number, month?: string) => readStatement(billing.ctx, callOf(accountId), month);

/** Moves an account's books and history this many months into the past. */
async function back(accountId: number, months: number) {
  for (const [table, column] of [
    ['plan_change', 'since'],
    ['daily_usage', 'day'],
    ['overage_line', 'period_start'],
  ])
    await billing.sql(
      `update ${table} set ${column} = date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - make_interval(months => $2)
         + (${column} - date_trunc('month', ${column}))
       where account_id = $1`,
      [accountId, months],
    );
}

describe('a statement', () => {
  it('has plan, usage by application, overage with its rate, and the totals', async () => {
    const call = await billing.account('free', 10);
    await update(call.accountId, { overage_enabled: true });
    const { lease_id: lease } = await billing.reserve(call, 2_000);
    await billing.settle(call, { lease, sequence: 1, calls: 1_260, release: true });
    const statement = await statementOf(call.accountId);
    expect(statement).toMatchObject({
      usage: [{ application_id: 7, method: 'GET', resource: 'domains', calls: 1_260 }],
      overage: [{ plan: 'free', calls: 1_250, price_per_1000: '2.0000', currency: 'USD', amount: '2.50' }],
      totals: [{ currency: 'USD', calls: 1_250, amount: '2.50' }],
      calls: 1_260,
    });
    expect(statement.plans.at(0)).toMatchObject({ plan: 'free' });
  });

  it('has each plan of the month and the one at its start', async () => {
    const { accountId } = await billing.account('free');
    await back(accountId, 2);
    await update(accountId, { plan: 'plus' });
    await update(accountId, { plan: 'enterprise', allowance: 90_000 });
    const plans = (await statementOf(accountId)).plans.map(({ plan, allowance }) => [plan, allowance]);
    expect(plans).toEqual([
      ['free', 1_000],
      ['plus', 15_000],
      ['enterprise', 90_000],
    ]);
  });

  it('is empty before the account existed, and excludes other accounts', async () => {
    const [mine, other] = [await billing.account(), await billing.account()];
    const { lease_id: lease } = await billing.reserve(other, 10);
    await billing.settle(other, { lease, sequence: 1, calls: 3, release: true });
    expect(await statementOf(mine.accountId, '2001-02')).toEqual({
      month: '2001-02',
      plans: [],
      usage: [],
      overage: [],
      totals: [],
      calls: 0,
    });
    expect(await statementOf(mine.accountId)).toMatchObject({ usage: [], calls: 0 });
  });

  it.each(['2099-12', '2026-00', '2026-13', '2026-1', '0000-01', '2026-01-01', '', "2026-01'", '２０２６-01'])(
    'is none for the month %j',
    async (month) => {
      const { accountId } = await billing.account();
      await expect(statementOf(accountId, month)).rejects.toMatchObject({ kind: 'bad_request' });
    },
  );

  it('equals the books to the call and to the cent, after random events in the month', async () => {
    const step = fc.oneof(
      fc.record({ serve: fc.integer({ min: 0, max: 400 }) }),
      fc.record({ plan: fc.constantFrom('free', 'plus', 'business'), allowance: fc.integer({ min: 0, max: 500 }) }),
      fc.record({ overage_enabled: fc.boolean() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
        const call = await billing.account('free', 100);
        let served = 0;
        for (const step of steps) {
          if (!('serve' in step)) {
            await update(call.accountId, step);
            continue;
          }
          const { lease_id: lease, granted } = await billing.reserve(call, step.serve);
          if (granted === 0) continue;
          const calls = Math.min(granted, step.serve);
          await billing.settle(call, { lease, sequence: 1, calls, release: true });
          served += calls;
        }
        const statement = await statementOf(call.accountId);
        const month = await billing.month(call);
        expect([statement.calls, month.calls, month.reserved]).toEqual([served, served, 0]);
        expect(statement.overage.reduce((sum, { calls }) => sum + calls, 0)).toBe(month.overage_calls);
        const cents = (amount: string) => BigInt(amount.replace('.', ''));
        const charged = statement.overage.reduce((sum, { amount }) => sum + cents(amount), 0n);
        expect(statement.totals.reduce((sum, { amount }) => sum + cents(amount), 0n)).toBe(charged);
      }),
      { numRuns: 25 },
    );
  });
});

describe('a change of plan in the middle of the month', () => {
  it('applies the new allowance at once; earlier calls of the month count against it', async () => {
    const call = await billing.account('plus');
    const lease = await billing.reserve(call, 1_500);
    await billing.settle(call, { lease: lease.lease_id, sequence: 1, calls: 1_500, release: true });
    await update(call.accountId, { plan: 'free' });
    expect(await billing.reserve(call, 5)).toMatchObject({ granted: 0, allowance: 1_000, remaining: -500 });
    await update(call.accountId, { plan: 'business' });
    expect(await billing.reserve(call, 5)).toMatchObject({ granted: 5, remaining: 43_495 });
  });

  it('keeps earlier charges, and charges each call at the rate at its reservation', async () => {
    const call = await billing.account('free', 0);
    await update(call.accountId, { overage_enabled: true });
    const before = await billing.reserve(call, 100);
    await billing.settle(call, { lease: before.lease_id, sequence: 1, calls: 10 });
    await update(call.accountId, { plan: 'plus', allowance: 40 });
    await billing.settle(call, { lease: before.lease_id, sequence: 2, calls: 50, release: true });
    const after = await billing.reserve(call, 100);
    await billing.settle(call, { lease: after.lease_id, sequence: 1, calls: 30, release: true });
    const { overage, calls } = await statementOf(call.accountId);
    expect(calls).toBe(90);
    expect(overage.map(({ plan, calls }) => [plan, calls])).toEqual([
      ['free', 30], // 10 beyond an allowance of 0, then 20 of the next 50: the change made 40 free
      ['plus', 30],
    ]);
  });
});

describe('rates of overage', () => {
  it('are added and never changed', async () => {
    const rate = { plan: 'enterprise', currency: 'EUR', price_per_1000: '0.7500', valid_from: '' };
    const added = await addOverageRate(billing.ctx, rate);
    expect(added).toMatchObject({ ...rate, valid_from: expect.any(String) });
    const [newest] = (await listOverageRates(billing.ctx)).filter(({ plan }) => plan === 'enterprise');
    expect(newest).toEqual(added);
  });

  it.each([
    [{ plan: 'gold' }],
    [{ currency: 'eur' }],
    [{ currency: 'ZZZ' }],
    [{ price_per_1000: '-1' }],
    [{ price_per_1000: '1e3' }],
    [{ price_per_1000: '1.23456' }],
    [{ price_per_1000: '' }],
    [{ valid_from: '2001-01-01T00:00:00Z' }],
    [{ valid_from: 'soon' }],
    [{ valid_from: '2001-02' }],
  ])('are refused: %j', async (wrong) => {
    const rate = { plan: 'plus', currency: 'EUR', price_per_1000: '1', valid_from: '', ...wrong };
    await expect(addOverageRate(billing.ctx, rate)).rejects.toMatchObject({ kind: 'validation_failed' });
  });
});
