// Counts of large tables, remembered as of a mark (`pages/count-sql.ts`). Somebody who pages through a million rows asks for the same
// count with every page; only what has changed since is looked at again, so the count is exact whoever writes meanwhile.
import { LRUCache } from 'lru-cache';
import type { DeployedTable } from '../tables/table.ts';
import { type CountAt, type Counting, changesMaximum } from './count-sql.ts';

/** Smaller tables are counted faster than looked up. */
const rowsMinimum = 20_000;
/** So many changes since its mark, and a count gets a newer one. */
const changesBeforeRenewal = 200;

const countsPerTable = 200;
// Now and then rows are counted anew, so that nothing a wrong clock has done stays for long.
const rememberedMs = 10 * 60_000;
const toleranceMs = 1_000; // how late that may be: a look at the clock costs a timer

/** `changes`: how many there were since the mark, when somebody looked last. */
type Remembered = CountAt & { changes?: number };
type Planned = Counting & { known?: Remembered };

/** What a statement answers that counted as told: `countSql`. */
export type Counted = { c: number; changes: number; since?: number };

/** The latest known high-water mark, in ISO 8601, and about how many rows a table has. */
type Marks = { find(): string | undefined };
type Sizes = { find(table: DeployedTable): number };

export class CountCache {
  private readonly marks: Marks;
  private readonly sizes: Sizes;
  private readonly byTable = new WeakMap<DeployedTable, LRUCache<string, Remembered>>();

  constructor(marks: Marks, sizes: Sizes) {
    this.marks = marks;
    this.sizes = sizes;
  }

  /** Whether counts of this table are remembered. */
  isLarge(table: DeployedTable): boolean {
    return this.sizes.find(table) >= rowsMinimum;
  }

  /** How to count what `key` stands for. */
  plan(table: DeployedTable, key: string): Planned {
    const known = this.byTable.get(table)?.get(key);
    const rows = this.sizes.find(table);
    const { changes = 0 } = known ?? {};
    if (known && changes < changesBeforeRenewal) return { known, isUnchanged: known.changes === 0, rows };
    const mark = this.marks.find();
    if (mark === undefined || !isInHistory(table, mark) || (known && mark <= known.mark)) return { known, rows };
    return { known, mark, rows };
  }

  /** Remembers what came of it; false when the count is wrong and the statement must be run again, as planned then. */
  learn(table: DeployedTable, key: string, { known, isUnchanged, mark }: Planned, counted: Counted): boolean {
    const { c, changes, since } = counted;
    if (changes > changesMaximum) {
      this.byTable.get(table)?.delete(key);
      return known === undefined;
    }
    if (mark !== undefined && since !== undefined) this.remember(table, key, { mark, count: c - since });
    else if (known && changes !== known.changes) this.remember(table, key, { ...known, changes });
    return !isUnchanged || changes === 0;
  }

  private remember(table: DeployedTable, key: string, count: Remembered): void {
    let counts = this.byTable.get(table);
    if (!counts) {
      counts = new LRUCache({ max: countsPerTable, ttl: rememberedMs, noUpdateTTL: true, ttlResolution: toleranceMs });
      this.byTable.set(table, counts);
    }
    counts.set(key, count);
  }
}

const isInHistory = ({ history_since }: DeployedTable, mark: string): boolean => history_since <= Date.parse(mark);
