// Erases a deleted account from metadata's database.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { countRemoved } from '@almanac/service-kit/postgres/account-rows';
import { withTransaction } from '@almanac/service-kit/postgres/database';
import { createAccountErasure } from '@almanac/service-kit/process/account-erasure';
import type { Part } from '@almanac/service-kit/process/part';
import type pg from 'pg';

/** The part that erases accounts in metadata's database. */
export function createMetadataErasure(pool: pg.Pool, bus: Bus, logger: Logger): Part {
  const stores = [{ pool, removeOther: (accountId: number) => removeBases(pool, accountId) }];
  return createAccountErasure({ service: 'metadata', bus, logger, stores });
}

// Bases that an earlier release stored name no account.
async function removeBases(pool: pg.Pool, accountId: number): Promise<void> {
  await withTransaction(pool, async (sql) => {
    const { rowCount } = await sql(
      `delete from clone_base where account_id = 0 and table_definition_id in (
         select id from table_definition where account_id = $1::int
         union all select id from deleted_table_definition where account_id = $1::int)`,
      [accountId],
    );
    await countRemoved(sql, accountId, 'clone_base', rowCount ?? 0);
  });
}
