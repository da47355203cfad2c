// Fixtures of billing's tests: a migrated database, a context over it, and accounts with open
// books.
import type { CallContext, Issuer } from '@almanac/service-kit/caller/call-context';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool, pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { waitLonger } from '@almanac/testkit/time-limits';
import { PrismaPg } from '@prisma/adapter-pg';
import { openAccount } from '../src/accounts/account-billing.ts';
import type { BillingContext } from '../src/context.ts';
import { PrismaClient } from '../src/generated/prisma/client.ts';
import { reserveCalls } from '../src/leases/call-leases.ts';
import { settleCalls } from '../src/leases/call-settlement.ts';

export type Billing = {
  ctx: BillingContext;
  sql: Sql;
  databaseUrl: string;
  /** Opens the books of a new account and returns a call of it. */
  account(plan?: string, allowance?: number): Promise<CallContext>;
  /** Reports calls served on one day. */
  settle(call: CallContext, report: Report): Promise<{ lease_open: boolean }>;
  reserve(call: CallContext, wanted: number, gateway?: string): ReturnType<typeof reserveCalls>;
  month(call: CallContext): Promise<{ calls: number; reserved: number; overage_calls: number }>;
  close(): Promise<void>;
};

type Report = { lease: string; sequence: number; calls?: number; release?: boolean; giveBack?: number; day?: string };

export const callOf = (accountId: number, issuer: Issuer = 'gateway'): CallContext => ({
  issuer,
  accountId,
  scopes: [],
  branching: false,
  requestId: 'request-1',
});

export async function givenBilling(): Promise<Billing> {
  waitLonger();
  const database = await createServiceDatabase('billing');
  const logger = createLogger('billing', 'silent');
  const pool = createPool({ url: database.url, name: 'billing-test', max: 20, logger });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const ctx: BillingContext = { pool, prisma, logger, leaseSeconds: 30 };
  const sql = pgSql(pool);
  let lastId = 0;
  return {
    ctx,
    sql,
    databaseUrl: database.url,
    async account(plan = 'free', allowance) {
      lastId += 1;
      await openAccount(sql, lastId, plan);
      if (allowance !== undefined)
        await sql('update account_subscription set allowance = $2 where account_id = $1', [lastId, allowance]);
      return callOf(lastId);
    },
    settle: (call, { lease, sequence, calls = 0, release = false, giveBack = 0, day }) =>
      settleCalls(ctx, call, {
        lease_id: lease,
        sequence,
        served: [
          {
            day: day ?? new Date().toISOString().slice(0, 10),
            method: 'GET',
            resource: 'domains',
            calls,
            application_id: 7,
          },
        ],
        release,
        give_back: giveBack,
      }),
    reserve: (call, wanted, gateway = 'gateway-a') => reserveCalls(ctx, call, { gateway_id: gateway, wanted }),
    async month(call) {
      const { rows } = await sql(
        `select coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(reserved), 0)::bigint as reserved,
                coalesce(sum(overage_calls), 0)::bigint as overage_calls
         from monthly_usage where account_id = $1`,
        [call.accountId],
      );
      return rows[0] as { calls: number; reserved: number; overage_calls: number };
    },
    async close() {
      await prisma.$disconnect();
      if (!pool.ended) await pool.end();
      await database.drop();
    },
  };
}
