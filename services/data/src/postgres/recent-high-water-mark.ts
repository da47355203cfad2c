// A recent mark of a database (`postgres/high-water-mark.ts`), refreshed while callers need it.
// Callers never wait for it: an older mark is as true.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { readHighWaterMark } from './high-water-mark.ts';

const refreshMs = 2_000;

export class RecentHighWaterMark {
  private readonly pool: pg.Pool;
  private mark: string | undefined;
  private requestedAt = Number.NEGATIVE_INFINITY;

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** The latest known mark; reads the next one in the background when it is old. */
  find(): string | undefined {
    if (performance.now() - this.requestedAt > refreshMs) {
      this.requestedAt = performance.now();
      this.read().catch(() => {});
    }
    return this.mark;
  }

  /** Reads the mark now. */
  async read(): Promise<string> {
    this.requestedAt = performance.now();
    this.mark = await readHighWaterMark(pgSql(this.pool));
    return this.mark;
  }
}
