// Prices of calls beyond the allowance. Rates are added and never changed, so old statements stay
// reproducible.
import { validationFailed } from '@almanac/service-kit/errors';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import { requirePlan } from '../accounts/account-billing.ts';
import type { BillingContext } from '../context.ts';

export type OverageRate = { id: number; plan: string; currency: string; price_per_1000: string; valid_from: string };

type NewRate = { plan: string; currency: string; price_per_1000: string; valid_from: string };

const toOverageRate = (row: Record<string, unknown>) =>
  ({ ...row, valid_from: (row.valid_from as Date).toISOString() }) as OverageRate;

const columns = 'id, plan, currency, price_per_1000, valid_from';

/** All rates, by plan, the newest first. */
export async function listOverageRates(ctx: Pick<BillingContext, 'pool'>): Promise<OverageRate[]> {
  const { rows } = await pgSql(ctx.pool)(
    `select ${columns} from overage_rate order by plan, valid_from desc, id desc limit 1000`,
  );
  return rows.map(toOverageRate);
}

/** Adds a rate that applies from `valid_from` on, by default from now. 422 with all problems. */
export async function addOverageRate(ctx: Pick<BillingContext, 'pool'>, rate: NewRate): Promise<OverageRate> {
  const plan = requirePlan(rate.plan);
  const problems: Problem[] = [];
  if (!Intl.supportedValuesOf('currency').includes(rate.currency))
    problems.push({
      code: 'not_in_list',
      message: 'Currency must be a code of ISO 4217 such as EUR',
      field: 'currency',
    });
  if (!/^\d{1,8}(\.\d{1,4})?$/.test(rate.price_per_1000))
    problems.push({
      code: 'wrong_format',
      message: 'Price per 1000 must be a decimal number with at most 4 decimals, zero or more',
      field: 'price_per_1000',
    });
  if (rate.valid_from !== '' && !(Date.parse(rate.valid_from) > Date.now() - 60_000))
    problems.push({
      code: 'out_of_range',
      message: 'Valid from must be an ISO 8601 time that is not past',
      field: 'valid_from',
    });
  if (problems.length > 0) throw validationFailed(problems);
  const { rows } = await pgSql(ctx.pool)(
    `insert into overage_rate (plan, currency, price_per_1000, valid_from)
     values ($1, $2, $3::numeric, coalesce($4::timestamptz, now())) returning ${columns}`,
    [plan, rate.currency, rate.price_per_1000, rate.valid_from === '' ? null : new Date(rate.valid_from)],
  );
  return toOverageRate(rows[0] as Record<string, unknown>);
}
