// Billing's gRPC server for gateways, identity and operators, and which service may call which
// method.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import type { RpcServer, RpcServerOptions } from '@almanac/service-kit/rpc/server';
import { getAccountBilling, openAccount } from './accounts/account-billing.ts';
import { updateAccountBilling } from './accounts/account-changes.ts';
import { listBillingEvents } from './accounts/billing-history.ts';
import type { BillingContext } from './context.ts';
import { reserveCalls } from './leases/call-leases.ts';
import { settleCalls } from './leases/call-settlement.ts';
import { addOverageRate, listOverageRates } from './statements/overage-rates.ts';
import { readStatement } from './statements/statement.ts';
import { statementCsv } from './statements/statement-csv.ts';
import { countConsoleCalls } from './usage/console-usage.ts';
import { readMonthlyUsage } from './usage/usage.ts';

const callers = {
  ReserveCalls: ['gateway'],
  SettleCalls: ['gateway'],
  CountConsoleCalls: ['gateway'],
  GetAccountBilling: ['gateway', 'identity', 'operator'],
  UpdateAccountBilling: ['identity', 'operator'],
  GetUsage: ['operator'],
  GetStatement: ['operator'],
  ListBillingEvents: ['operator'],
  ListOverageRates: ['operator'],
  AddOverageRate: ['operator'],
  OpenAccount: ['identity', 'operator'],
} as const satisfies RpcServerOptions<'billing'>['callers'];

/** Builds the gRPC server; it listens only after `start`. */
export function createBillingRpc(ctx: BillingContext, runtime: ServiceRuntime, port: number): RpcServer {
  return runtime.rpcServer({ service: 'billing', port, callers, handlers: billingHandlers(ctx) });
}

/** The handlers; the account always comes from the signed context. */
function billingHandlers(ctx: BillingContext): RpcHandlers<'billing'> {
  return {
    ReserveCalls: (call, request) => reserveCalls(ctx, call, request),
    SettleCalls: (call, request) => settleCalls(ctx, call, request),
    CountConsoleCalls: (call, request) => countConsoleCalls(ctx, call, request),
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
