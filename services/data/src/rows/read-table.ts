// What reads of rows share: as of an instant, with lookups; and why a statement may have answered nothing.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { DataContext } from '../context.ts';
import { run } from '../postgres/pools.ts';
import { stale } from '../tables/catalogue.ts';
import { type TableRequest, useTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { maySee } from '../tables/table-rights.ts';
import { refuseAsOf } from './as-of.ts';
import type { Reading } from './read-options.ts';

/** What a request may say of how it reads rows. */
export type ReadingRequest = { asOf?: string; includeLookups?: boolean };

const targetsOf = ({ structure }: DeployedTable): number[] =>
  structure.foreign_keys.map((foreignKey) => foreignKey.target_table_id);

/**
 * Answers what `read` finds in the table, with the right to view it. Nothing found: 400 when the instant can't be answered, then
 * what `absent` makes of it, which is another attempt unless it says otherwise.
 */
export function readTable<T>(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  { asOf, includeLookups = false }: ReadingRequest,
  read: (table: DeployedTable, reading: Reading) => Promise<T | undefined>,
  absent: (...tables: DeployedTable[]) => Promise<typeof stale> = async () => stale,
): Promise<T> {
  const work = async (table: DeployedTable, others: ReadonlyMap<number, DeployedTable>) => {
    const targets = includeLookups ? await visible(ctx, call, others) : undefined;
    const found = await read(table, { asOf, targets });
    if (found !== undefined) return found;
    const tables = new Set([table, ...(targets?.values() ?? [])]);
    for (const each of tables) await refuseAsOf((asked) => run(ctx.pools.rows, asked), each, asOf);
    return absent(...tables);
  };
  return useTable(ctx, call, reference, 'view', work, includeLookups ? targetsOf : undefined);
}

// What one may not see of another table stays out of lookups too.
async function visible(
  ctx: DataContext,
  call: CallContext,
  tables: ReadonlyMap<number, DeployedTable>,
): Promise<Map<number, DeployedTable>> {
  const seen = new Map<number, DeployedTable>();
  for (const [id, table] of tables) if (await maySee(ctx, call, table)) seen.set(id, table);
  return seen;
}
