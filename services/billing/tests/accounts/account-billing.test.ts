import { getAccountBilling, openAccount } from '../../src/accounts/account-billing.ts';
import { updateAccountBilling } from '../../src/accounts/account-changes.ts';
import { type PlanName, plans, writeBlock } from '../../src/accounts/plans.ts';
import { type Billing, callOf, givenBilling } from '../given.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await givenBilling();
});
afterAll(() => billing.close());

const overdueFor = (accountId: number, interval: string) =>
  billing.sql(
    `update account_subscription set billing_status = 'overdue', overdue_since = now() - $2::interval where account_id = $1`,
    [accountId, interval],
  );

const changes = (accountId: number) =>
  billing.sql(
    `select payload from outbox where type = 'billing.account.changed' and (payload ->> 'account_id')::int = $1`,
    [accountId],
  );

describe('the books of an account', () => {
  it.each([
    ['free', 1_000, false],
    ['plus', 15_000, false],
    ['business', 45_000, true],
    ['enterprise', 45_000, true],
  ])('open with the allowance and features of the plan %s', async (plan, allowance, branching) => {
    const call = await billing.account(plan);
    expect(await getAccountBilling(billing.ctx, call)).toMatchObject({
      plan,
      allowance,
      branching_enabled: branching,
      billing_status: 'current',
      overdue_since: '',
      writes_blocked: false,
      overage_enabled: false,
      calls: 0,
      overage_calls: 0,
      storage_bytes: plans[plan as PlanName].storageBytes,
    });
  });

  it('are opened once: a second event changes nothing', async () => {
    const call = await billing.account('business');
    await openAccount(billing.sql, call.accountId, 'free');
    expect((await getAccountBilling(billing.ctx, call)).plan).toBe('business');
  });

  it('are not open for an unknown account, and need a plan that exists', async () => {
    await expect(getAccountBilling(billing.ctx, callOf(888_888))).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(openAccount(billing.sql, 888_888, 'gold')).rejects.toMatchObject({ kind: 'validation_failed' });
  });
});

describe('overdue payment', () => {
  it.each([
    ['6 days 23:59:00', false],
    ['7 days 00:00:01', true],
    ['8 days', true],
  ])('blocks writes after more than 7 days: %s → %s', async (interval, blocked) => {
    const call = await billing.account();
    await overdueFor(call.accountId, interval);
    const state = await getAccountBilling(billing.ctx, call);
    expect(state.writes_blocked).toBe(blocked);
    if (blocked) expect(state.writes_blocked_in_seconds).toBe(0);
    else expect(state.writes_blocked_in_seconds).toBeGreaterThan(0);
    expect(Number(state.writes_blocked_in_seconds)).toBeLessThanOrEqual(61);
  });

  it('counts 7 days to the second', () => {
    const days = 7 * 86_400;
    const { blocked, inSeconds } = writeBlock('overdue', days);
    expect([blocked, inSeconds]).toEqual([false, 1]);
    expect(writeBlock('overdue', days - 1.5)).toEqual({ blocked: false, inSeconds: 2 });
    expect(writeBlock('overdue', days + 0.001)).toEqual({ blocked: true, inSeconds: 0 });
    expect(writeBlock('overdue', days + 1)).toEqual({ blocked: true, inSeconds: 0 });
  });

  it('counts down to the block', async () => {
    const call = await billing.account();
    await overdueFor(call.accountId, '1 day');
    const { writes_blocked_in_seconds: seconds } = await getAccountBilling(billing.ctx, call);
    expect(Number(seconds)).toBeGreaterThan(6 * 86_400 - 60);
    expect(Number(seconds)).toBeLessThanOrEqual(6 * 86_400 + 1);
  });
});

describe('changes of the books', () => {
  const operator = (accountId: number) => callOf(accountId, 'operator');

  it('by identity are limited to overage', async () => {
    const { accountId } = await billing.account();
    const identity = callOf(accountId, 'identity');
    expect(await updateAccountBilling(billing.ctx, identity, { overage_enabled: true })).toMatchObject({
      overage_enabled: true,
      plan: 'free',
    });
    expect(await updateAccountBilling(billing.ctx, identity, { overage_enabled: false })).toMatchObject({
      overage_enabled: false,
    });
    await expect(updateAccountBilling(billing.ctx, identity, { plan: 'business' })).rejects.toMatchObject({
      kind: 'forbidden',
    });
    expect((await changes(accountId)).rows).toEqual([
      { payload: { account_id: accountId } },
      { payload: { account_id: accountId } },
    ]);
  });

  it('by operators include plan, allowance and state', async () => {
    const { accountId } = await billing.account();
    const call = operator(accountId);
    expect(await updateAccountBilling(billing.ctx, call, { plan: 'business' })).toMatchObject({
      plan: 'business',
      allowance: 45_000,
      branching_enabled: true,
    });
    expect(await updateAccountBilling(billing.ctx, call, { plan: 'enterprise', allowance: 1_000_000 })).toMatchObject({
      allowance: 1_000_000,
    });
    expect(await updateAccountBilling(billing.ctx, call, { overage_enabled: true })).toMatchObject({
      allowance: 1_000_000,
    });
    const since = '2026-01-02T03:04:05.000Z';
    expect(
      await updateAccountBilling(billing.ctx, call, { billing_status: 'overdue', overdue_since: since }),
    ).toMatchObject({ billing_status: 'overdue', overdue_since: since, writes_blocked: true });
    expect(await updateAccountBilling(billing.ctx, call, { billing_status: 'overdue' })).toMatchObject({
      overdue_since: since,
    });
    expect(await updateAccountBilling(billing.ctx, call, { billing_status: 'current' })).toMatchObject({
      overdue_since: '',
      writes_blocked: false,
    });
    const overdue = await updateAccountBilling(billing.ctx, call, { billing_status: 'overdue' });
    expect(overdue.overdue_since).not.toBe('');
    expect(overdue.writes_blocked).toBe(false);
    expect(await updateAccountBilling(billing.ctx, call, { billing_status: 'cancelled' })).toMatchObject({
      writes_blocked: true,
    });
  });

  it('by operators include storage; another plan resets it, like the allowance', async () => {
    const GB = 1024 ** 3;
    const { accountId } = await billing.account('free');
    const call = operator(accountId);
    const storageAfter = async (change: Parameters<typeof updateAccountBilling>[2]) =>
      (await updateAccountBilling(billing.ctx, call, change)).storage_bytes;
    expect(await storageAfter({})).toBe(100 * GB);
    expect(await storageAfter({ storage_bytes: 300 * GB })).toBe(300 * GB);
    expect(await storageAfter({ plan: 'free', overage_enabled: true })).toBe(300 * GB);
    expect(await storageAfter({ plan: 'plus' })).toBe(250 * GB);
    expect(await storageAfter({ plan: 'business', storage_bytes: 0 })).toBe(0);
    expect(await storageAfter({ plan: 'enterprise' })).toBe(5 * 1024 * GB);
    for (const storage_bytes of [-1, 1.5])
      await expect(storageAfter({ storage_bytes })).rejects.toMatchObject({ kind: 'validation_failed' });
    const administrator = updateAccountBilling(billing.ctx, callOf(accountId, 'identity'), { storage_bytes: 1 });
    await expect(administrator).rejects.toMatchObject({ kind: 'forbidden' });
    expect(await storageAfter({})).toBe(5 * 1024 * GB);
  });

  it('are sent to the audit log, for every actor; a request that changes nothing is not', async () => {
    const { accountId } = await billing.account();
    await updateAccountBilling(billing.ctx, operator(accountId), { plan: 'business' });
    await updateAccountBilling(billing.ctx, operator(accountId), { plan: 'business' });
    const administrator = { ...callOf(accountId, 'identity'), userId: 7, applicationId: 9, address: '192.0.2.7' };
    await updateAccountBilling(billing.ctx, administrator, { overage_enabled: true });
    const sent = await billing.sql(
      `select payload from outbox where type = 'billing.audit.requested' and (payload ->> 'account_id')::int = $1
       order by id`,
      [accountId],
    );
    const on = { action: 'account.updated', resource_type: 'account', resource_id: accountId, account_id: accountId };
    expect(sent.rows.map(({ payload }) => payload)).toEqual([
      {
        ...on,
        before: { plan: 'free', allowance: 1_000 },
        after: { plan: 'business', allowance: 45_000 },
        request_id: 'request-1',
      },
      {
        ...on,
        user_id: 7,
        application_id: 9,
        address: '192.0.2.7',
        before: { overage_enabled: false },
        after: { overage_enabled: true },
        request_id: 'request-1',
      },
    ]);
  });

  it('that are invalid are refused with all problems, and change nothing', async () => {
    const { accountId } = await billing.account();
    const call = operator(accountId);
    await expect(
      updateAccountBilling(billing.ctx, call, { billing_status: 'late', allowance: -1, overdue_since: 'yesterday' }),
    ).rejects.toMatchObject({
      kind: 'validation_failed',
      errors: [expect.any(String), expect.any(String), expect.any(String), expect.any(String)],
    });
    await expect(updateAccountBilling(billing.ctx, call, { plan: 'gold' })).rejects.toMatchObject({
      kind: 'validation_failed',
    });
    await expect(updateAccountBilling(billing.ctx, operator(777_777), { plan: 'plus' })).rejects.toMatchObject({
      kind: 'unavailable',
    });
    expect((await changes(accountId)).rows).toEqual([]);
  });

  it('of the allowance announce its thresholds again', async () => {
    const call = await billing.account('free', 10);
    const lease = (await billing.reserve(call, 1)).lease_id;
    await billing.settle(call, { lease, sequence: 1, calls: 9 });
    await updateAccountBilling(billing.ctx, operator(call.accountId), { allowance: 100 });
    await billing.settle(call, { lease, sequence: 2, calls: 75 });
    const { rows } = await billing.sql(
      `select payload ->> 'percent' as percent from outbox
       where type = 'billing.allowance.reached' and (payload ->> 'account_id')::int = $1`,
      [call.accountId],
    );
    expect(rows).toEqual([{ percent: '80' }, { percent: '80' }]);
  });
});
