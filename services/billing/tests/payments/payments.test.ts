// Events of the payment provider, in any order and any number of times.
import fc from 'fast-check';
import { getAccountBilling } from '../../src/accounts/account-billing.ts';
import { updateAccountBilling } from '../../src/accounts/account-changes.ts';
import { applyPaymentEvent } from '../../src/payments/payment-events.ts';
import type { PaymentEvent } from '../../src/payments/payment-provider.ts';
import { type Billing, callOf, givenBilling } from '../given.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await givenBilling();
});
afterAll(() => billing.close());

const from = { requestId: 'request-1', address: '192.0.2.7' };
let events = 0;

/** An event that occurred this many hours ago. */
function event(accountId: number, hoursAgo: number, more: Partial<PaymentEvent>): PaymentEvent {
  events += 1;
  const occurredAt = new Date(Date.now() - hoursAgo * 3_600_000);
  const unchanged = { billingStatus: null, plan: null, allowance: null };
  return { id: `evt_${events}`, type: 'test', accountId, occurredAt, ...unchanged, ...more };
}
const failed = (accountId: number, hoursAgo: number) => event(accountId, hoursAgo, { billingStatus: 'overdue' });
const paid = (accountId: number, hoursAgo: number) => event(accountId, hoursAgo, { billingStatus: 'current' });

const apply = (event: PaymentEvent) => applyPaymentEvent(billing.ctx, from, event);
const state = (accountId: number) => getAccountBilling(billing.ctx, callOf(accountId));
const sent = async (accountId: number, type: string) => {
  const { rows } = await billing.sql(
    `select payload from outbox where type = $2 and (payload ->> 'account_id')::int = $1 order by id`,
    [accountId, type],
  );
  return rows.map(({ payload }) => payload);
};

describe('an event of the payment provider', () => {
  it('makes an account overdue from the first failure on, and current after a payment', async () => {
    const { accountId } = await billing.account();
    const first = failed(accountId, 200);
    expect(await apply(first)).toBe(true);
    const overdue = { billing_status: 'overdue', overdue_since: first.occurredAt.toISOString() };
    expect(await state(accountId)).toMatchObject({ ...overdue, writes_blocked: true });
    await apply(failed(accountId, 100));
    expect(await state(accountId)).toMatchObject(overdue);
    await apply(paid(accountId, 50));
    expect(await state(accountId)).toMatchObject({
      billing_status: 'current',
      overdue_since: '',
      writes_blocked: false,
    });
  });

  it('is applied once, even if it arrives several times at once', async () => {
    const { accountId } = await billing.account();
    const message = failed(accountId, 1);
    const applied = await Promise.all(Array.from({ length: 10 }, () => apply(message)));
    expect(applied.filter(Boolean)).toHaveLength(1);
    expect(await sent(accountId, 'billing.account.changed')).toHaveLength(1);
    expect(await sent(accountId, 'billing.audit.requested')).toHaveLength(1);
  });

  it('changes nothing when a later event was applied before it', async () => {
    const { accountId } = await billing.account();
    await apply(paid(accountId, 1));
    await apply(failed(accountId, 2));
    expect(await state(accountId)).toMatchObject({ billing_status: 'current' });
    expect(await sent(accountId, 'billing.account.changed')).toEqual([]);
  });

  it('leads to the same state in any order of arrival', async () => {
    const plans = ['free', 'plus', 'business', 'enterprise'] as const;
    const message = fc.record({
      hoursAgo: fc.integer({ min: 1, max: 300 }),
      change: fc.oneof(
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
        const states = [];
        for (const order of [one, other]) {
          const { accountId } = await billing.account();
          for (const { hoursAgo, change } of order) {
            const occurredAt = new Date(now - hoursAgo * 3_600_000);
            await apply({ ...event(accountId, hoursAgo, change), occurredAt });
          }
          const { plan, allowance, billing_status, overdue_since } = await state(accountId);
          states.push({ plan, allowance, billing_status, overdue_since });
        }
        expect(states[0]).toEqual(states[1]);
      }),
      { numRuns: 30 },
    );
  });

  it('changes the plan; an agreed allowance stays with the same plan', async () => {
    const { accountId } = await billing.account();
    await apply(event(accountId, 9, { plan: 'enterprise', allowance: 250_000 }));
    expect(await state(accountId)).toMatchObject({ plan: 'enterprise', allowance: 250_000, branching_enabled: true });
    await apply(event(accountId, 8, { plan: 'enterprise' }));
    expect(await state(accountId)).toMatchObject({ allowance: 250_000 });
    await apply(event(accountId, 7, { plan: 'plus' }));
    expect(await state(accountId)).toMatchObject({ plan: 'plus', allowance: 15_000, billing_status: 'current' });
  });

  it('leaves a cancelled account cancelled when a payment fails, until one succeeds', async () => {
    const { accountId } = await billing.account();
    await apply(event(accountId, 9, { billingStatus: 'cancelled' }));
    await apply(failed(accountId, 8));
    expect(await state(accountId)).toMatchObject({ billing_status: 'cancelled', overdue_since: '' });
    await apply(paid(accountId, 7));
    expect(await state(accountId)).toMatchObject({ billing_status: 'current' });
  });

  it('may have occurred long ago', async () => {
    const { accountId } = await billing.account();
    await apply({ ...failed(accountId, 1), occurredAt: new Date('0001-01-01T00:00:00Z') });
    expect(await state(accountId)).toMatchObject({ billing_status: 'overdue', writes_blocked: true });
  });

  it('does not undo a later change of an operator', async () => {
    const { accountId } = await billing.account();
    await apply(failed(accountId, 10));
    const operator = callOf(accountId, 'operator');
    await updateAccountBilling(billing.ctx, operator, { billing_status: 'current', plan: 'business' });
    await apply(failed(accountId, 5));
    await apply(event(accountId, 5, { plan: 'plus' }));
    expect(await state(accountId)).toMatchObject({ plan: 'business', billing_status: 'current' });
  });

  it('keeps changes of the books that an older release made without an event', async () => {
    const { accountId } = await billing.account();
    await billing.sql(`update account_subscription set plan = 'plus', allowance = 99 where account_id = $1`, [
      accountId,
    ]);
    await apply(failed(accountId, 1));
    expect(await state(accountId)).toMatchObject({ plan: 'plus', allowance: 99, billing_status: 'overdue' });
  });

  it('is a 404 for an unknown account, and can be repeated', async () => {
    const unknown = failed(1_999_999, 1);
    await expect(apply(unknown)).rejects.toMatchObject({ kind: 'not_found' });
    const { rows } = await billing.sql('select 1 from billing_event where event_id = $1', [unknown.id]);
    expect(rows).toEqual([]);
  });

  it('is in the audit log with its address', async () => {
    const { accountId } = await billing.account();
    const message = failed(accountId, 1);
    await apply(message);
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

  it('are sent at 80 and at 100 percent, once a month, even if the allowance was raised in between', async () => {
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

  it('say that payment is overdue and when writes will be blocked, once a month, for every source', async () => {
    const { accountId } = await billing.account();
    const operator = callOf(accountId, 'operator');
    const since = new Date(Date.now() - 3_600_000).toISOString();
    await updateAccountBilling(billing.ctx, operator, { billing_status: 'overdue', overdue_since: since });
    await updateAccountBilling(billing.ctx, operator, { billing_status: 'overdue' });
    await updateAccountBilling(billing.ctx, operator, { billing_status: 'current' });
    await apply(failed(accountId, 0));
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

  it('are requested once by many concurrent reports', async () => {
    const call = await billing.account('free', 100);
    const leases = await Promise.all(Array.from({ length: 10 }, () => billing.reserve(call, 1)));
    await Promise.all(leases.map(({ lease_id: lease }) => billing.settle(call, { lease, sequence: 1, calls: 12 })));
    expect((await mails(call.accountId)).map(({ values }) => values.percent)).toEqual([80, 100]);
  });
});
