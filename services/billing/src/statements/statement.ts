// The statement of an account's month: its plans, its calls, and the charges beyond the allowance.
// All of it comes from rows that are only added, so the statement of a past month never changes.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { periodStartSql } from '../accounts/account-billing.ts';
import type { BillingContext } from '../context.ts';
import { amountOf, writeAmount } from './money.ts';

export type Statement = {
  /** YYYY-MM, UTC. */
  month: string;
  /** The plan in force when the month began, if the account existed, and each later one. */
  plans: { since: Date; plan: string; allowance: number }[];
  usage: { application_id: number; method: string; resource: string; calls: number }[];
  overage: OverageLine[];
  /** One for each currency; the sum of its lines. */
  totals: { currency: string; calls: number; amount: string }[];
  /** All calls of the month: the sum of the usage. */
  calls: number;
};

export type OverageLine = { plan: string; calls: number; price_per_1000: string; currency: string; amount: string };

/** The format of `month`. */
export const monthPattern = /^20\d\d-(0[1-9]|1[0-2])$/;

/**
 * The statement of a month, by default the present one so far. 400 for a month that has not begun.
 */
export function readStatement(
  ctx: Pick<BillingContext, 'pool'>,
  call: Pick<CallContext, 'accountId'>,
  wanted?: string,
): Promise<Statement> {
  return withTransaction(
    ctx.pool,
    async (sql) => {
      const month = await readMonth(sql, wanted);
      const overage = await readOverage(sql, call.accountId, month);
      const usage = await readUsage(sql, call.accountId, month);
      return {
        month,
        plans: await readPlans(sql, call.accountId, month),
        usage,
        overage: overage.map(({ amount, ...line }) => ({ ...line, amount: writeAmount(amount, line.currency) })),
        totals: totalsOf(overage),
        calls: usage.reduce((sum, { calls }) => sum + calls, 0),
      };
    },
    { isolation: 'repeatable read' },
  );
}

/**
 * The month, by default the present one by the database's clock; 400 for one that has not begun.
 */
export async function readMonth(sql: Sql, wanted: string | undefined): Promise<string> {
  const { rows } = await sql(`select to_char(${periodStartSql}, 'YYYY-MM') as month`);
  const present: string = rows[0]?.month;
  const month = wanted ?? present;
  if (!monthPattern.test(month))
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'month must be a month, YYYY-MM.',
      field: 'month',
    });
  if (month > present)
    throw new ServiceError('bad_request', {
      code: 'out_of_range',
      message: 'month must not be after the present one.',
      field: 'month',
    });
  return month;
}

const begins = `($2 || '-01')::date`;
const ends = `(${begins} + interval '1 month')`;

async function readPlans(sql: Sql, accountId: number, month: string): Promise<Statement['plans']> {
  const { rows } = await sql(
    `select plan, allowance, since from plan_change
     where account_id = $1 and since < ${ends} at time zone 'UTC'
       and id >= coalesce((
         select max(id) from plan_change where account_id = $1 and since <= ${begins}::timestamp at time zone 'UTC'
       ), 0)
     order by since, id`,
    [accountId, month],
  );
  return rows as Statement['plans'];
}

async function readUsage(sql: Sql, accountId: number, month: string): Promise<Statement['usage']> {
  const { rows } = await sql(
    `select application_id, method, resource, sum(calls)::bigint as calls from daily_usage
     where account_id = $1 and day >= ${begins} and day < ${ends}
     group by application_id, method, resource order by application_id, resource, method`,
    [accountId, month],
  );
  return rows as Statement['usage'];
}

type ExactLine = Omit<OverageLine, 'amount'> & { amount: bigint };

async function readOverage(sql: Sql, accountId: number, month: string): Promise<ExactLine[]> {
  const { rows } = await sql(
    `select r.plan, l.calls, r.price_per_1000, r.currency
     from overage_line l join overage_rate r on r.id = l.overage_rate_id
     where l.account_id = $1 and l.period_start = ${begins} order by r.id`,
    [accountId, month],
  );
  return (rows as Omit<ExactLine, 'amount'>[]).map((line) => ({
    ...line,
    amount: amountOf(line.calls, line.price_per_1000, line.currency),
  }));
}

/** The sums of the lines, by currency. */
export function totalsOf(lines: readonly Pick<ExactLine, 'currency' | 'calls' | 'amount'>[]): Statement['totals'] {
  const sums = new Map<string, { calls: number; amount: bigint }>();
  for (const { currency, calls, amount } of lines) {
    const sum = sums.get(currency) ?? { calls: 0, amount: 0n };
    sums.set(currency, { calls: sum.calls + calls, amount: sum.amount + amount });
  }
  return [...sums].map(([currency, { calls, amount }]) => ({ currency, calls, amount: writeAmount(amount, currency) }));
}
