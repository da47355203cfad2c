// What the payment provider says of accounts, in any order and any number of times.
import fc from 'fast-check';
import { getAccountBilling } from '../src/accounts/account-billing.ts';
import { updateAccountBilling } from '../src/accounts/account-changes.ts';
import { applyPaymentEvent } from '../src/payments/payment-events.ts';
import type { PaymentEvent } from '../src/payments/payment-provider.ts';
import { type Billing, callOf, givenBilling } from './given.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await givenBilling();
});
afterAll(() => billing.close());

const from = { requestId: 'request-1', address: '192.0.2.7' };
let events = 0;

/** An event that happened that many hours ago. */
function event(accountId: number, hoursAgo: number, more: Partial<PaymentEvent>): PaymentEvent {
  events += 1;
  const occurredAt = new Date(Date.now() - hoursAgo * 3_600_000);
  const nothing = { billingStatus: null, plan: null, allowance: null };
  return { id: `evt_${events}`, type: 'test', accountId, occurredAt, ...nothing, ...more };
}
const failed = (accountId: number, hoursAgo: number) => event(accountId, hoursAgo, { billingStatus: 'overdue' });
const paid = (accountId: number, hoursAgo: number) => event(accountId, hoursAgo, { billingStatus: 'current' });

const take = (taken: PaymentEvent) => applyPaymentEvent(billing.ctx, from, taken);
const state = (accountId: number) => getAccountBilling(billing.ctx, callOf(accountId));
const sent = async (accountId: number, type: string) => {
  const { rows } = await billing.sql(
    `select payload from outbox where type = $2 and (payload ->> 'account_id')::int = $1 order by id`,
    [accountId, type],
  );
  return rows.map(({ payload }) => payload);
};

describe('what the payment provider says', () => {
  it('makes an account overdue from the first failure on, and current when it is paid', async () => {
    const { accountId } = await billing.account();
    const first = failed(accountId, 200);
    expect(await take(first)).toBe(true);
    const overdue = { billing_status: 'overdue', overdue_since: first.occurredAt.toISOString() };
    expect(await state(accountId)).toMatchObject({ ...overdue, writes_blocked: true });
    await take(failed(accountId, 100));
    expect(await state(accountId)).toMatchObject(overdue);
    await take(paid(accountId, 50));
    expect(await state(accountId)).toMatchObject({
      billing_status: 'current',
      overdue_since: '',
      writes_blocked: false,
    });
  });

  it('counts once, however often it comes, also at the same time', async () => {
    const { accountId } = await billing.account();
    const message = failed(accountId, 1);
    const taken = await Promise.all(Array.from({ length: 10 }, () => take(message)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await sent(accountId, 'billing.account.changed')).toHaveLength(1);
    expect(await sent(accountId, 'billing.audit.requested')).toHaveLength(1);
  });

  it('changes nothing when something later has settled it', async () => {
    const { accountId } = await billing.account();
    await take(paid(accountId, 1));
    await take(failed(accountId, 2));
    expect(await state(accountId)).toMatchObject({ billing_status: 'current' });
    expect(await sent(accountId, 'billing.account.changed')).toEqual([]);
  });

  it('gives the same state in whatever order it comes', async () => {
    const plans = ['free', 'plus', 'business', 'enterprise'] as const;
    const message = fc.record({
      hoursAgo: fc.integer({ min: 1, max: 300 }),
      said: fc.oneof(
        fc.constantFrom('overdue' as const, 'current' as const, 'cancelled' as const).map((billingStatus) => ({
          billingStatus,
        })),
        fc.record({ plan: fc.constantFrom(...plans), allowance: fc.option(fc.integer({ min: 0, max: 100_000 })) }),
      ),
    });
    const orders = fc
      .uniqueArray(message, { minLength: 2, maxLength: 5, selector: ({ hoursAgo }) => hoursAgo })
      .chain((inOrder) => fc.tuple(fc.constant(inOrder), fc.shuffledSubarray(inOrder, { minLength: inOrder.length })));
    await fc.assert(
      fc.asyncProperty(orders, async ([one, other]) => {
        const now = Date.now();
        const standings = [];
        for (const order of [one, other]) {
          const { accountId } = await billing.account();
          for (const { hoursAgo, said } of order) {
            const occurredAt = new Date(now - hoursAgo * 3_600_000);
            await take({ ...event(accountId, hoursAgo, said), occurredAt });
          }
          const { plan, allowance, billing_status, overdue_since } = await state(accountId);
          standings.push({ plan, allowance, billing_status, overdue_since });
        }
        expect(standings[0]).toEqual(standings[1]);
      }),
      { numRuns: 30 },
    );
  });

  it('changes the plan; an agreed allowance stays with the same plan', async () => {
    const { accountId } = await billing.account();
    await take(event(accountId, 9, { plan: 'enterprise', allowance: 250_000 }));
    expect(await state(accountId)).toMatchObject({ plan: 'enterprise', allowance: 250_000, branching_enabled: true });
    await take(event(accountId, 8, { plan: 'enterprise' }));
    expect(await state(accountId)).toMatchObject({ allowance: 250_000 });
    await take(event(accountId, 7, { plan: 'plus' }));
    expect(await state(accountId)).toMatchObject({ plan: 'plus', allowance: 15_000, billing_status: 'current' });
  });

  it('leaves a cancelled account cancelled when a payment fails, until one succeeds', async () => {
    const { accountId } = await billing.account();
    await take(event(accountId, 9, { billingStatus: 'cancelled' }));
    await take(failed(accountId, 8));
    expect(await state(accountId)).toMatchObject({ billing_status: 'cancelled', overdue_since: '' });
    await take(paid(accountId, 7));
    expect(await state(accountId)).toMatchObject({ billing_status: 'current' });
  });

  it('may have happened long ago', async () => {
    const { accountId } = await billing.account();
    await take({ ...failed(accountId, 1), occurredAt: new Date('0001-01-01T00:00:00Z') });
    expect(await state(accountId)).toMatchObject({ billing_status: 'overdue', writes_blocked: true });
  });

  it('yields to what an operator said later', async () => {
    const { accountId } = await billing.account();
    await take(failed(accountId, 10));
    const operator = callOf(accountId, 'operator');
    await updateAccountBilling(billing.ctx, operator, { billing_status: 'current', plan: 'business' });
    await take(failed(accountId, 5));
    await take(event(accountId, 5, { plan: 'plus' }));
    expect(await state(accountId)).toMatchObject({ plan: 'business', billing_status: 'current' });
  });

  it('keeps what an older release wrote into the books without a word', async () => {
    const { accountId } = await billing.account();
    await billing.sql(`update account_subscription set plan = 'plus', allowance = 99 where account_id = $1`, [
      accountId,
    ]);
    await take(failed(accountId, 1));
    expect(await state(accountId)).toMatchObject({ plan: 'plus', allowance: 99, billing_status: 'overdue' });
  });

  it('is nothing for an account that does not exist, and can be said again', async () => {
    const unknown = failed(1_999_999, 1);
    await expect(take(unknown)).rejects.toMatchObject({ kind: 'not_found' });
    const { rows } = await billing.sql('select 1 from billing_event where event_id = $1', [unknown.id]);
    expect(rows).toEqual([]);
  });

  it('stands in the audit log with where it came from', async () => {
    const { accountId } = await billing.account();
    const message = failed(accountId, 1);
    await take(message);
    expect(await sent(accountId, 'billing.audit.requested')).toEqual([
      {
        action: 'account.updated',
        resource_type: 'account',
        resource_id: accountId,
        account_id: accountId,
        request_id: 'request-1',
        address: '192.0.2.7',
        before: { billing_status: 'current', overdue_since: null },
        after: { billing_status: 'overdue', overdue_since: message.occurredAt.toISOString() },
      },
    ]);
  });
});

describe('mails to the administrators', () => {
  const mails = (accountId: number) => sent(accountId, 'billing.mail.requested');

  it('tell of 80 and of 100 percent, once a month, also when the allowance was raised in between', async () => {
    const call = await billing.account('free', 10);
    const lease = (await billing.reserve(call, 1)).lease_id;
    await billing.settle(call, { lease, sequence: 1, calls: 7 });
    expect(await mails(call.accountId)).toEqual([]);
    for (const sequence of [2, 3, 4, 5]) await billing.settle(call, { lease, sequence, calls: 1 });
    await updateAccountBilling(billing.ctx, callOf(call.accountId, 'operator'), { allowance: 20 });
    await billing.settle(call, { lease, sequence: 6, calls: 50 });
    const { period_start } = (await sent(call.accountId, 'billing.allowance.reached'))[0];
    const mail = { account_id: call.accountId, template: 'allowance_reached', to: 'administrators' };
    const values = { allowance: 10, period_start, overage_enabled: false };
    expect(await mails(call.accountId)).toEqual([
      { ...mail, values: { ...values, percent: 80, calls: 8 } },
      { ...mail, values: { ...values, percent: 100, calls: 10 } },
    ]);
    expect(await sent(call.accountId, 'billing.allowance.reached')).toHaveLength(3);
  });

  it('tell that payment is overdue and when changes will be refused, once a month, whoever said it', async () => {
    const { accountId } = await billing.account();
    const operator = callOf(accountId, 'operator');
    const since = new Date(Date.now() - 3_600_000).toISOString();
    await updateAccountBilling(billing.ctx, operator, { billing_status: 'overdue', overdue_since: since });
    await updateAccountBilling(billing.ctx, operator, { billing_status: 'overdue' });
    await updateAccountBilling(billing.ctx, operator, { billing_status: 'current' });
    await take(failed(accountId, 0));
    expect(await mails(accountId)).toEqual([
      {
        account_id: accountId,
        template: 'payment_overdue',
        to: 'administrators',
        values: {
          overdue_since: since,
          writes_blocked_from: new Date(Date.parse(since) + 7 * 86_400_000).toISOString(),
        },
      },
    ]);
  });

  it('are asked for once by many reports at the same time', async () => {
    const call = await billing.account('free', 100);
    const leases = await Promise.all(Array.from({ length: 10 }, () => billing.reserve(call, 1)));
    await Promise.all(leases.map(({ lease_id: lease }) => billing.settle(call, { lease, sequence: 1, calls: 12 })));
    expect((await mails(call.accountId)).map(({ values }) => values.percent)).toEqual([80, 100]);
  });
});
