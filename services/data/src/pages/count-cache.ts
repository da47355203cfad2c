// Caches the counts of large tables as of a high-water mark (`pages/count-sql.ts`). Every page of a
// million rows has the same count; a statement looks only at the changes since the mark, so the
// count is exact while others write.
import { LRUCache } from 'lru-cache';
import type { DeployedTable } from '../tables/table.ts';
import { type CountAt, type Counting, maxChanges } from './count-sql.ts';

/** Counting a smaller table is faster than working its count out. */
export const minRows = 20_000;
// A count with more changes since its mark gets a newer mark.
const maxChangesSinceMark = 200;

const maxCountsPerTable = 200;
// Rows are counted again then, which bounds the effect of a wrong clock.
const ttlMs = 10 * 60_000;
const toleranceMs = 1_000; // how late that may be: reading the clock costs a timer

/** `changes`: since the mark, at the latest statement. */
type CachedCount = CountAt & { changes?: number };
type CountPlan = Counting & { known?: CachedCount };

/** The columns of a statement with `countSql`. */
export type Counted = { c: number; changes: number; since?: number };

/** The latest known high-water mark, in ISO 8601, and about how many rows a table has. */
type HighWaterMark = { find(): string | undefined };
type Sizes = { find(table: DeployedTable): number };

export class CountCache {
  private readonly highWaterMark: HighWaterMark;
  private readonly sizes: Sizes;
  private readonly byTable = new WeakMap<DeployedTable, LRUCache<string, CachedCount>>();

  constructor(marks: HighWaterMark, sizes: Sizes) {
    this.highWaterMark = marks;
    this.sizes = sizes;
  }

  /** Whether counts of this table are cached. */
  isLarge(table: DeployedTable): boolean {
    return this.sizes.find(table) >= minRows;
  }

  /** How a statement counts the matches of `key`. */
  plan(table: DeployedTable, key: string): CountPlan {
    const known = this.byTable.get(table)?.get(key);
    const rows = this.sizes.find(table);
    const { changes = 0 } = known ?? {};
    if (known && changes < maxChangesSinceMark) return { known, isUnchanged: known.changes === 0, rows };
    const mark = this.highWaterMark.find();
    if (mark === undefined || !isInHistory(table, mark) || (known && mark <= known.mark)) return { known, rows };
    return { known, mark, rows };
  }

  /**
   * Caches the result; false when the count is wrong, and another statement must count by a new
   * plan.
   */
  learn(table: DeployedTable, key: string, { known, isUnchanged, mark }: CountPlan, counted: Counted): boolean {
    const { c, changes, since } = counted;
    if (changes > maxChanges) {
      this.byTable.get(table)?.delete(key);
      return known === undefined;
    }
    if (mark !== undefined && since !== undefined) this.store(table, key, { mark, count: c - since });
    else if (known && changes !== known.changes) this.store(table, key, { ...known, changes });
    return !isUnchanged || changes === 0;
  }

  private store(table: DeployedTable, key: string, count: CachedCount): void {
    let counts = this.byTable.get(table);
    if (!counts) {
      counts = new LRUCache({ max: maxCountsPerTable, ttl: ttlMs, noUpdateTTL: true, ttlResolution: toleranceMs });
      this.byTable.set(table, counts);
    }
    counts.set(key, count);
  }
}

const isInHistory = ({ history_since }: DeployedTable, mark: string): boolean => history_since <= Date.parse(mark);
