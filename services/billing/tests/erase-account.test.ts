// The erasure of an account in billing: its statements are reported before its books are deleted,
// and no other account changes.
import { eraseAccount } from '@almanac/service-kit/process/account-erasure';
import { erasureOf } from '../src/erase-account.ts';
import { type Billing, givenBilling } from './given.ts';

let billing: Billing;

beforeAll(async () => {
  billing = await givenBilling();
});
afterAll(() => billing.close());

/** Every table that has the account's id, from the catalogue. */
async function stateOf(account: number): Promise<Record<string, string>> {
  const { rows: tables } = await billing.sql(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'account_id' and table_name <> 'account_erasure'`,
  );
  const state: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await billing.sql(
      `select count(*)::int as n, md5(string_agg(t::text, '|' order by t::text)) as hash from "${name}" t where account_id = $1`,
      [account],
    );
    if (rows[0]?.n > 0) state[name] = `${rows[0]?.n} ${rows[0]?.hash}`;
  }
  return state;
}
const reports = async () =>
  (await billing.sql(`select payload from outbox where type = 'billing.account.erased' order by id`)).rows.map(
    ({ payload }) => payload,
  );

it('the erasure of an account reports its statements, and leaves nothing else of it', async () => {
  const [call, neighbour] = [await billing.account('business', 10), await billing.account('business', 10)];
  await billing.sql(`insert into overage_rate (plan, currency, price_per_1000, valid_from)
    values ('business', 'EUR', 2, now() - interval '1 day')`);
  await billing.sql('update account_subscription set overage_enabled = true');
  for (const each of [call, neighbour]) {
    const { lease_id } = await billing.reserve(each, 50);
    await billing.settle(each, { lease: lease_id, sequence: 1, calls: 30, release: true });
    await billing.sql(
      `insert into billing_event (source, event_id, account_id, type, occurred_at) values ('provider', 'e' || $1::int, $1::int, 'paid', now())`,
      [each.accountId],
    );
  }
  const [before, own] = [await stateOf(neighbour.accountId), await stateOf(call.accountId)];
  expect(Object.keys(own)).toEqual(
    expect.arrayContaining([
      'account_subscription',
      'monthly_usage',
      'call_lease',
      'daily_usage',
      'overage_line',
      'plan_change',
    ]),
  );
  await eraseAccount(erasureOf(billing.ctx), call.accountId);
  expect(await stateOf(call.accountId)).toEqual({});
  expect(await stateOf(neighbour.accountId)).toEqual(before);
  const [report] = await reports();
  expect(report).toEqual({
    account_id: call.accountId,
    counts: expect.objectContaining({ account_subscription: 1, monthly_usage: 1, call_lease: 1, billing_event: 1 }),
    facts: {
      statements: [
        expect.objectContaining({
          month: new Date().toISOString().slice(0, 7),
          calls: 30,
          totals: [{ currency: 'EUR', calls: 20, amount: '0.04' }],
        }),
      ],
    },
  });
});

it('waits for the last calls that a gateway has to report', async () => {
  const call = await billing.account('business', 10);
  const { lease_id } = await billing.reserve(call, 5);
  const erasing = eraseAccount(erasureOf(billing.ctx), call.accountId);
  await billing.settle(call, { lease: lease_id, sequence: 1, calls: 3, release: true });
  await erasing;
  expect((await reports()).at(-1)).toMatchObject({ account_id: call.accountId, facts: { statements: [{ calls: 3 }] } });
});
