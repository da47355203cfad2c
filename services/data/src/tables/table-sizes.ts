// About how many rows tables have, by PostgreSQL's own statistics: enough to tell large tables from
// small ones. Callers never wait: a table whose size isn't known yet counts as empty.
import type pg from 'pg';
import { run } from '../postgres/pools.ts';
import { tableName } from '../sql/identifiers.ts';
import type { DeployedTable } from './table.ts';

type Known = { rows: number; until: number };

const ttlMs = 30_000;

export class TableSizes {
  private readonly pool: pg.Pool;
  private readonly known = new WeakMap<DeployedTable, Known>();

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** The known size; read again in the background when it has expired. */
  find(table: DeployedTable): number {
    const known = this.known.get(table);
    if (known && known.until > Date.now()) return known.rows;
    const rows = known?.rows ?? 0;
    // Until the read ends, other calls don't start another.
    this.known.set(table, { rows, until: Date.now() + ttlMs });
    this.read(table).catch(() => this.known.delete(table));
    return rows;
  }

  /** Reads the size now. */
  async read(table: DeployedTable): Promise<number> {
    const [row] = await run<{ rows: number }>(this.pool, {
      text: 'select greatest(reltuples, 0)::bigint as rows from pg_class where oid = to_regclass($1)',
      values: [tableName(table)],
    });
    const rows = row?.rows ?? 0;
    this.known.set(table, { rows, until: Date.now() + ttlMs });
    return rows;
  }
}
