// The gRPC handlers for gateways, identity and operators, and the callers of each method.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import type { RpcServerOptions } from '@almanac/service-kit/rpc/server';
import { getAccountBilling, openAccount } from './accounts/account-billing.ts';
import { updateAccountBilling } from './accounts/account-changes.ts';
import { listBillingEvents } from './accounts/billing-history.ts';
import type { BillingContext } from './context.ts';
import { reserveCalls } from './leases/call-leases.ts';
import { settleCalls } from './leases/call-settlement.ts';
import { addOverageRate, listOverageRates } from './statements/overage-rates.ts';
import { readStatement } from './statements/statement.ts';
import { statementCsv } from './statements/statement-csv.ts';
import { readMonthlyUsage } from './usage/usage.ts';

/** The handlers; the account always comes from the signed context. */
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
