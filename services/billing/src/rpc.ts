// What gateways, identity and operators ask billing over gRPC, and who may ask what.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import type { RpcServerOptions } from '@almanac/service-kit/rpc/server';
import { getAccountBilling, openAccount } from './account-billing.ts';
import { updateAccountBilling } from './account-changes.ts';
import { reserveCalls } from './call-leases.ts';
import { settleCalls } from './call-settlement.ts';
import type { BillingContext } from './context.ts';
import { addOverageRate, listOverageRates } from './overage-rates.ts';
import { listBillingEvents } from './payments/billing-history.ts';
import { readStatement } from './statements/statement.ts';
import { statementCsv } from './statements/statement-csv.ts';
import { readMonthlyUsage } from './usage.ts';

/** The handlers; the account is always the one of the signed context. */
export function createHandlers(ctx: BillingContext): RpcHandlers<'billing'> {
  return {
    ReserveCalls: (call, request) => reserveCalls(ctx, call, request),
    SettleCalls: (call, request) => settleCalls(ctx, call, request),
    GetAccountBilling: (call) => getAccountBilling(ctx, call),
    UpdateAccountBilling: (call, request) => updateAccountBilling(ctx, call, request),
    GetUsage: (call, { month }) => readMonthlyUsage(ctx, call, month || undefined),
    GetStatement: async (call, { month }) => {
      const statement = await readStatement(ctx, call, month || undefined);
      const plans = statement.plans.map((plan) => ({ ...plan, since: plan.since.toISOString() }));
      return { ...statement, plans, csv: statementCsv(statement) };
    },
    ListBillingEvents: async (call) => ({ events: await listBillingEvents(ctx, call) }),
    ListOverageRates: async () => ({ rates: await listOverageRates(ctx) }),
    AddOverageRate: (_call, rate) => addOverageRate(ctx, rate),
    OpenAccount: async (call, request) => {
      await openAccount(pgSql(ctx.pool), call.accountId, request.plan);
      return getAccountBilling(ctx, call);
    },
  };
}

export const callers: RpcServerOptions<'billing'>['callers'] = {
  ReserveCalls: ['gateway'],
  SettleCalls: ['gateway'],
  GetAccountBilling: ['gateway', 'identity', 'operator'],
  UpdateAccountBilling: ['identity', 'operator'],
  GetUsage: ['operator'],
  GetStatement: ['operator'],
  ListBillingEvents: ['operator'],
  ListOverageRates: ['operator'],
  AddOverageRate: ['operator'],
  OpenAccount: ['identity', 'operator'],
};
