// About how many rows tables have, as PostgreSQL's own statistics say: enough to tell large tables from small ones. Never waited
// for: a table whose size isn't known yet counts as empty.
import type pg from 'pg';
import { run } from '../postgres/pools.ts';
import { tableName } from '../sql/identifiers.ts';
import type { DeployedTable } from './table.ts';

type Known = { rows: number; until: number };

const rememberedMs = 30_000;

export class TableSizes {
  private readonly pool: pg.Pool;
  private readonly known = new WeakMap<DeployedTable, Known>();

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** The size as known; asks anew in the background when that is old. */
  find(table: DeployedTable): number {
    const known = this.known.get(table);
    if (known && known.until > Date.now()) return known.rows;
    const rows = known?.rows ?? 0;
    // Whoever comes meanwhile doesn't ask again.
    this.known.set(table, { rows, until: Date.now() + rememberedMs });
    this.read(table).catch(() => this.known.delete(table));
    return rows;
  }

  /** Asks now. */
  async read(table: DeployedTable): Promise<number> {
    const [row] = await run<{ rows: number }>(this.pool, {
      text: 'select greatest(reltuples, 0)::bigint as rows from pg_class where oid = to_regclass($1)',
      values: [tableName(table)],
    });
    const rows = row?.rows ?? 0;
    this.known.set(table, { rows, until: Date.now() + rememberedMs });
    return rows;
  }
}
