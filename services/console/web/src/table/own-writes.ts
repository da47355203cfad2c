// Distinguishes what others changed from what was written here: events of rows count them only.

/** Events come within this time after a write, also on a busy server. */
const comesWithinMs = 15_000;

export class OwnWrites {
  private writes: { rows: number; at: number }[] = [];

  /** Rows were written here; an undo may write any number. */
  add(rows: number | 'any', at: number): void {
    this.writes.push({ rows: rows === 'any' ? Number.POSITIVE_INFINITY : rows, at });
  }

  /** How many of the rows that an event counts others have changed. */
  countOthers(changed: number, at: number): number {
    this.writes = this.writes.filter((write) => write.rows > 0 && at - write.at <= comesWithinMs);
    let others = changed;
    for (const write of this.writes) {
      const own = Math.min(write.rows, others);
      write.rows -= own;
      others -= own;
    }
    return others;
  }
}
