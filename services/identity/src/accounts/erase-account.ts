// What identity itself removes of a deleted account: all its rows, the account's own at the end.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { countRemoved } from '@almanac/service-kit/postgres/account-rows';
import { pgSql, withTransaction } from '@almanac/service-kit/postgres/database';
import { createAccountErasure, erasureRequested } from '@almanac/service-kit/process/account-erasure';
import type { Part } from '@almanac/service-kit/process/part';
import type pg from 'pg';

/** The part that erases accounts in identity's database. */
export function createIdentityErasure(pool: pg.Pool, bus: Bus, logger: Logger): Part {
  return createAccountErasure({
    service: 'identity',
    bus,
    logger,
    stores: [
      {
        pool,
        removeOther: (accountId) => removeRevocations(pool, accountId),
        removeLast: (accountId) => removeAccount(pool, accountId),
      },
    ],
    keepTables: ['account_deletion', 'erasure_report', 'revocation'],
    keepMessages: [erasureRequested, 'identity.account.closed', 'identity.token.revoked'],
  });
}

// The revocation of the account stays until its last tokens have expired; it covers all others.
async function removeRevocations(pool: pg.Pool, accountId: number): Promise<void> {
  await withTransaction(pool, async (sql) => {
    const { rowCount } = await sql(`delete from revocation where account_id = $1::int and kind <> 'account'`, [
      accountId,
    ]);
    await countRemoved(sql, accountId, 'revocation', rowCount ?? 0);
  });
}

// A consumer that writes for an account locks its row first, so nothing is written after this.
async function removeAccount(pool: pg.Pool, accountId: number): Promise<void> {
  await pgSql(pool)(`delete from account where id = $1::int and status = 'closed'`, [accountId]);
}
