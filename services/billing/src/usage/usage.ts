// The calls of an account by day, method, resource and application.
import { type Fields, type ListQuery, type Page, page, prismaWhere, window } from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { periodStartSql } from '../accounts/account-billing.ts';
import type { BillingContext } from '../context.ts';
import { readMonth } from '../statements/statement.ts';

/** The fields of `q` and `sort`. */
export const usageFields: Fields = {
  day: 'time',
  method: 'text',
  resource: 'text',
  application_id: 'integer',
  calls: 'integer',
};

export type Usage = {
  channel: 'api' | 'console';
  day: string;
  method: string;
  resource: string;
  application_id: number | null;
  /** Of calls of the console. */
  user_id: number | null;
  calls: number;
};

/** From one day to another, both included. */
export type DayRange = { from?: string; to?: string };

const keyOrder = ['day', 'method', 'resource', 'application_id'] as const;

/**
 * Lists usage from one day to another, both included; by default from the first day of the present
 * month.
 */
export async function listUsage(
  ctx: BillingContext,
  call: Pick<CallContext, 'accountId'>,
  range: DayRange,
  list: ListQuery,
): Promise<Page<Usage>> {
  const { where, ...lines } = await readWindow(ctx, call, range, list, keyOrder);
  const [rows, total] = await ctx.prisma.$transaction([
    ctx.prisma.daily_usage.findMany({ where, ...lines }),
    ctx.prisma.daily_usage.count({ where }),
  ]);
  const data = rows.map((row) => ({
    ...showDay(row),
    channel: 'api' as const,
    application_id: row.application_id || null,
    user_id: null,
  }));
  return page(data, list, total);
}

/** What a page of counted calls reads: those of the days, in a total order by the key. */
export async function readWindow(
  ctx: BillingContext,
  { accountId }: Pick<CallContext, 'accountId'>,
  range: DayRange,
  list: ListQuery,
  keyOrder: readonly string[],
) {
  const rest = keyOrder.filter((field) => field !== list.sort?.field).map((field) => ({ [field]: 'asc' as const }));
  return {
    where: { account_id: accountId, day: await readDays(ctx, range), ...prismaWhere(list.conditions) },
    orderBy: list.sort ? [{ [list.sort.field]: list.sort.direction }, ...rest] : rest,
    ...window(list),
  };
}

type Counted = { day: Date; method: string; resource: string; calls: bigint };

/** The members that calls of both channels have. */
export const showDay = ({ day, method, resource, calls }: Counted) => ({
  day: day.toISOString().slice(0, 10),
  method,
  resource,
  calls: Number(calls),
});

// The days of a range, by default of the present month. 400 when it ends before it begins.
async function readDays(ctx: BillingContext, range: DayRange) {
  if (range.from !== undefined && range.to !== undefined && range.from > range.to)
    throw new ServiceError('bad_request', {
      code: 'out_of_range',
      message: 'from must not be after to.',
      field: 'from',
    });
  const from = range.from ?? (range.to === undefined ? await firstDayOfMonth(ctx) : undefined);
  return { ...(from && { gte: new Date(from) }), ...(range.to && { lte: new Date(range.to) }) };
}

async function firstDayOfMonth(ctx: BillingContext): Promise<string> {
  const { rows } = await pgSql(ctx.pool)(`select ${periodStartSql} as day`);
  return rows[0]?.day;
}

/**
 * A month's calls summed over all applications, for operators. 400 for a month that has not begun.
 */
export async function readMonthlyUsage(
  ctx: Pick<BillingContext, 'pool'>,
  call: Pick<CallContext, 'accountId'>,
  wanted?: string,
) {
  const sql = pgSql(ctx.pool);
  const month = await readMonth(sql, wanted);
  const { rows } = await sql(
    `select day, method, resource, sum(calls)::bigint as calls, 0 as application_id from daily_usage
     where account_id = $1 and day >= ($2 || '-01')::date and day < ($2 || '-01')::date + interval '1 month'
     group by day, method, resource order by day, resource, method`,
    [call.accountId, month],
  );
  return {
    month,
    calls: rows as (Omit<Usage, 'channel' | 'application_id' | 'user_id'> & { application_id: number })[],
  };
}
