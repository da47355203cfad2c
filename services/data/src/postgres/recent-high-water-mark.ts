// A recent mark of a database (`postgres/high-water-mark.ts`), kept fresh while somebody needs it. Never waited for: an older mark is as true.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { readMark } from './high-water-mark.ts';

const freshMs = 2_000;

export class Marks {
  private readonly pool: pg.Pool;
  private mark: string | undefined;
  private askedAt = Number.NEGATIVE_INFINITY;

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** The latest known mark; asks for the next one in the background when it is old. */
  find(): string | undefined {
    if (performance.now() - this.askedAt > freshMs) {
      this.askedAt = performance.now();
      this.read().catch(() => {});
    }
    return this.mark;
  }

  /** Asks now. */
  async read(): Promise<string> {
    this.askedAt = performance.now();
    this.mark = await readMark(pgSql(this.pool));
    return this.mark;
  }
}
