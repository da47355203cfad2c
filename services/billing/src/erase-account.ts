// Erases a deleted account from the books. The receipt keeps what accounting may need later: the
// statement of each month, without applications and resources.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { createAccountErasure } from '@almanac/service-kit/process/account-erasure';
import type { Part } from '@almanac/service-kit/process/part';
import type { BillingContext } from './context.ts';
import { readStatement } from './statements/statement.ts';

/** The part that erases accounts in billing's database. */
export function createBillingErasure(ctx: BillingContext, bus: Bus): Part {
  return createAccountErasure({ ...erasureOf(ctx), bus });
}

/** What an erasure works with. */
export function erasureOf(ctx: BillingContext) {
  const { pool, logger } = ctx;
  return {
    service: 'billing',
    logger,
    stores: [{ pool }],
    readFacts: (accountId: number) => readFacts(ctx, accountId),
  };
}

async function readFacts(ctx: BillingContext, accountId: number): Promise<object> {
  await awaitLeases(ctx, accountId);
  const { rows } = await pgSql(ctx.pool)(
    `select to_char(period_start, 'YYYY-MM') as month from monthly_usage
     where account_id = $1::int and calls > 0 order by 1`,
    [accountId],
  );
  const statements = [];
  for (const { month } of rows) {
    const { usage: _usage, ...statement } = await readStatement(ctx, { accountId }, month);
    statements.push(statement);
  }
  return statements.length > 0 ? { statements } : {};
}

const pauseMs = 500;

// Gateways report the last calls of a closed account while they still have a lease; a lease that
// runs out is reclaimed, and a little patience is enough for both.
async function awaitLeases({ pool, leaseSeconds }: BillingContext, accountId: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < 2 * leaseSeconds * 1_000; waitedMs += pauseMs) {
    const { rows } = await pgSql(pool)(
      'select true from call_lease where account_id = $1::int and closed_at is null and expires_at > now() limit 1',
      [accountId],
    );
    if (rows.length === 0) return;
    await sleep(pauseMs);
  }
}
