// Calls of the console: reported by gateways, shown beside the calls of the API, never charged.
import type { CountConsoleCallsRequest__Output as CountRequest } from '@almanac/protos/generated/almanac/billing/v1/CountConsoleCallsRequest.ts';
import { idSchema, readParameters } from '@almanac/service-kit/api/input';
import { type Fields, type ListQuery, type Page, page } from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { receiveOnce } from '@almanac/service-kit/messaging/inbox';
import { withTransaction } from '@almanac/service-kit/postgres/database';
import { z } from 'zod';
import type { BillingContext } from '../context.ts';
import { type DayRange, readWindow, showDay, type Usage } from './usage.ts';

const reportSchema = z.object({
  report_id: z.uuid(),
  served: z
    .array(
      z.object({
        user_id: idSchema,
        method: z.string().regex(/^[A-Z]{3,7}$/),
        resource: z.string().regex(/^[a-z_]{1,64}$/),
        calls: z.int().min(1).max(1_000_000_000),
      }),
    )
    .max(10_000),
});

/** Books a report of a gateway, on the present day; a repeated report is ignored. */
export async function countConsoleCalls(ctx: BillingContext, call: CallContext, request: CountRequest) {
  const { report_id, served } = readParameters(reportSchema, request);
  await withTransaction(ctx.pool, async (sql) => {
    if (!(await receiveOnce(sql, 'billing.console_calls', report_id))) return;
    await sql(
      `insert into console_usage (account_id, day, user_id, method, resource, calls)
       select $1, (now() at time zone 'utc')::date, user_id, method, resource, sum(calls)
       from unnest($2::int[], $3::text[], $4::text[], $5::bigint[]) as part(user_id, method, resource, calls)
       group by user_id, method, resource
       order by user_id, method, resource
       on conflict (account_id, day, user_id, method, resource)
       do update set calls = console_usage.calls + excluded.calls`,
      [
        call.accountId,
        served.map((part) => part.user_id),
        served.map((part) => part.method),
        served.map((part) => part.resource),
        served.map((part) => part.calls),
      ],
    );
  });
  return {};
}

/** The fields of `q` and `sort` for calls of the console. */
export const consoleUsageFields: Fields = {
  day: 'time',
  method: 'text',
  resource: 'text',
  user_id: 'integer',
  calls: 'integer',
};

const keyOrder = ['day', 'method', 'resource', 'user_id'] as const;

/** Lists the calls of the console by day, method, resource and person. */
export async function listConsoleUsage(
  ctx: BillingContext,
  call: Pick<CallContext, 'accountId'>,
  range: DayRange,
  list: ListQuery,
): Promise<Page<Usage>> {
  const { where, ...lines } = await readWindow(ctx, call, range, list, keyOrder);
  const [rows, total] = await ctx.prisma.$transaction([
    ctx.prisma.console_usage.findMany({ where, ...lines }),
    ctx.prisma.console_usage.count({ where }),
  ]);
  const data = rows.map((row) => ({
    ...showDay(row),
    channel: 'console' as const,
    application_id: null,
    user_id: row.user_id,
  }));
  return page(data, list, total);
}
