// Finds the rows of a staged file that can't be merged, and why: they are taken out of it and kept
// for a day. What is found goes into temporary tables, which are analysed before anything joins
// them: PostgreSQL takes a new table for a small one and would read the whole file for each of its
// rows.
import type { Sql } from '@almanac/service-kit/postgres/database';
import { reasonsName, rejectedKeysName, rejectionsName } from '../../sql/identifiers.ts';
import type { Statement } from '../../sql/statement.ts';
import type { DeployedTable } from '../../tables/table.ts';
import type { LoadOptions } from '../plan/load-options.ts';
import type { LoadPlan } from '../plan/load-plan.ts';
import { loadLimits } from '../staging/load-limits.ts';
import { keepAmbiguousSql, resolveSql } from '../staging/lookups-sql.ts';
import type { Staging } from '../staging/staged-file.ts';
import * as staged from '../staging/staged-sql.ts';
import { rejectCyclesSql } from './cycles-sql.ts';
import { findConflictsSql, rejectConflictsSql } from './edited-rows-sql.ts';
import { keepRejectedSql } from './keep-rejected-sql.ts';
import { findOrphansSql, linkRowsSql, rejectOrphansSql } from './orphans-sql.ts';
import { countUnreadableKeysSql, createRejectedKeysSql, keepRejectedKeysSql } from './rejected-keys-sql.ts';

export type Rejected = {
  count: number;
  /** How many of them are rejected only because they refer to others. */
  consequences: number;
  /** The first. */
  values: RejectedValue[];
  /** Why the load fails, when it has more rejected rows than a load may have. */
  excess?: string;
  /**
   * The table with the keys of the rejected rows, when there are any and the load deletes what the
   * file lacks.
   */
  keys?: string;
  /**
   * How many rejected rows have no readable key: each may be any of the rows that the file seems to
   * lack.
   */
  unreadableKeys: number;
  /** Whether rows that the file lacks are deleted. */
  deletes: boolean;
};

type Load = {
  accountId: number;
  table: DeployedTable;
  plan: LoadPlan;
  options: LoadOptions;
  staging: Staging;
  /** The table has no live rows. */
  isEmpty: boolean;
  /** Leaves to the constraints what they check anyway. */
  deferChecks: boolean;
};

// Each round reads all rows of the file and of the table.
const maxCycleRounds = 20;

const tooManyRoundsMessage =
  'Each time the rows that lead back to themselves are rejected, others do; nothing was loaded. Correct those that are kept and try again.';

/**
 * Takes the rows that break a rule out of the staged file and keeps them; none of the others breaks
 * one.
 */
export async function rejectRows(sql: Sql, load: Load): Promise<Rejected> {
  const rejections = new Rejections(sql, load);
  await rejections.run();
  return rejections.result();
}

class Rejections {
  private readonly sql: Sql;
  private readonly load: Load;
  private count = 0;
  private hasKeys = false;
  private unreadableKeys = 0;
  private needsMoreRounds = false;

  constructor(sql: Sql, load: Load) {
    this.sql = sql;
    this.load = load;
  }

  private async query({ text, values }: Statement): Promise<{ rows: Record<string, unknown>[]; count: number }> {
    const { rows, rowCount } = await this.sql(text, values);
    return { rows, count: rowCount ?? 0 };
  }

  async run(): Promise<void> {
    const { table, plan, options, staging, isEmpty } = this.load;
    const lookups = resolveSql(staging.name, table, plan);
    if (lookups) await this.query(lookups);
    const { rows: counts } = await this.query(staged.countBrokenSql(staging.name, plan));
    if (counts[0]?.broken !== 0) {
      for (const statement of keepAmbiguousSql(staging, table, plan)) await this.query(statement);
      await this.reject(staged.rejectBrokenSql(staging, plan, options));
    }
    const deferChecks = this.load.deferChecks && this.count === 0;
    // The constraint checks rows that are inserted, not those with a code to delete.
    const isUnchecked = plan.key.length > 0 && !(deferChecks && isEmpty && plan.codePosition === undefined);
    if (isUnchecked && !this.isTooMany()) {
      const { rows: twice } = await this.query(staged.findDuplicatesSql(staging.name, plan));
      if (twice[0]?.found) await this.reject(staged.rejectDuplicatesSql(staging, plan, options));
    }
    if (plan.versions && !this.isTooMany()) await this.rejectConflicts();
    if (this.keys() !== undefined)
      this.unreadableKeys = (await this.query(countUnreadableKeysSql(staging))).rows[0]?.unknown as number;
    if (!deferChecks && !this.isTooMany()) await this.rejectMisplaced();
  }

  // A live row keeps its values when its new version is rejected: that may close another cycle, or
  // refer to a record that is deleted.
  private async rejectMisplaced(): Promise<void> {
    for (let round = 1; ; round += 1) {
      await this.rejectOrphans();
      if (this.isTooMany() || !(await this.rejectCycles())) return;
      if (round === maxCycleRounds) {
        this.needsMoreRounds = true;
        return;
      }
    }
  }

  private async rejectCycles(): Promise<boolean> {
    const { table, plan, options, staging } = this.load;
    const cycles = rejectCyclesSql(staging, table, plan, options);
    return cycles !== undefined && (await this.reject(cycles)) > 0;
  }

  private async rejectConflicts(): Promise<void> {
    const { table, plan, options, staging } = this.load;
    const conflicts = findConflictsSql(staging, table, plan);
    if ((await this.query(conflicts)).rows[0]?.found)
      await this.reject(rejectConflictsSql(staging, table, plan, options));
  }

  private async rejectOrphans(): Promise<void> {
    const { table, plan, options, staging } = this.load;
    const keys = this.keys();
    const scope = { deletes: this.deletes(), ...(keys !== undefined && { keys }) };
    const orphans = findOrphansSql(staging, table, plan, scope);
    if (!orphans || !(await this.query(orphans)).rows[0]?.found) return;
    const links = linkRowsSql(staging, table, plan, scope);
    for (const statement of links) await this.sql(statement);
    const found = { ...scope, linked: links.length > 0, rejected: this.hasKeys };
    await this.reject(rejectOrphansSql(staging, table, plan, options, found));
  }

  private async reject({ find, keep }: staged.Rejection): Promise<number> {
    const { table, plan, staging } = this.load;
    if (this.count === 0) for (const statement of staged.createRejectionsSql(staging)) await this.sql(statement);
    const found = (await this.query(find)).count;
    if (found === 0) return 0;
    this.count += found;
    await this.sql(`analyze ${rejectionsName(staging.number)}`);
    await this.query(keep);
    if (this.isTooMany()) return found; // nothing will be merged
    if (this.replaces() || table.structure.foreign_keys.some((each) => each.target_lineage_id === table.lineage_id)) {
      if (!this.hasKeys) await this.query(createRejectedKeysSql(staging, plan));
      this.hasKeys = true;
      await this.query(keepRejectedKeysSql(staging, plan));
      await this.sql(`analyze ${rejectedKeysName(staging.number)}`);
    }
    await this.sql(staged.removeRejectedSql(staging));
    return found;
  }

  private isTooMany = () => this.count > loadLimits.rejectedRows;

  private replaces = () => this.load.plan.replaces && !this.load.isEmpty;

  private deletes = () => this.replaces() && this.unreadableKeys === 0;

  private keys = () => (this.hasKeys && this.replaces() ? rejectedKeysName(this.load.staging.number) : undefined);

  async result(): Promise<Rejected> {
    const { accountId, options, staging } = this.load;
    const base = { count: this.count, unreadableKeys: this.unreadableKeys, deletes: this.deletes() };
    if (this.count === 0) return { ...base, consequences: 0, values: [] };
    await this.sql(`analyze ${reasonsName(staging.number)}`);
    const { rows: following } = await this.sql(staged.countConsequencesSql(staging));
    const { rows: first } = await this.sql(staged.firstReasonsSql(staging));
    const keys = this.keys();
    const kept = await this.query(keepRejectedSql(staging.number, { accountId, loadId: options.loadId }));
    const isWhole = kept.rows[0]?.kept === this.count;
    return {
      ...base,
      consequences: following[0]?.count as number,
      values: first.map(toRejectedValue),
      ...(keys !== undefined && { keys }),
      ...(!isWhole && { excess: this.excess(kept.rows[0]?.kept as number) }),
      ...(this.needsMoreRounds && { excess: tooManyRoundsMessage }),
    };
  }

  private excess(kept: number): string {
    const { rejectedRows, rejectedBytes } = loadLimits;
    const many = `${this.count} of ${this.load.staging.rows} rows break rules, and a load may reject ${rejectedRows}`;
    const large = `The ${this.count} rows that break rules hold more than the ${rejectedBytes / 1024 ** 2} MB that a load may reject`;
    return `${this.isTooMany() ? many : large}; nothing was loaded. The first ${kept} are kept: correct what they have in common and try again.`;
  }
}

function toRejectedValue({ consequences, cause_row, message, ...reason }: Record<string, unknown>): RejectedValue {
  const count = (consequences ?? 0) as number;
  const more = count === 0 ? '' : ` (and ${count === 1 ? '1 row that refers' : `${count} rows that refer`} to it)`;
  return {
    ...(reason as Pick<RejectedValue, 'row' | 'column' | 'value'>),
    message: `${message}${more}`,
    ...(count > 0 && { consequences: count }),
    ...(cause_row !== null && { cause_row: cause_row as number }),
  };
}

export type RejectedValue = {
  row: number;
  column: string;
  value: string;
  message: string;
  /** How many rows are rejected only because this one is. */
  consequences?: number;
  /** The row to correct instead of this one. */
  cause_row?: number;
};
