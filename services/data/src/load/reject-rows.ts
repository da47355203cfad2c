// Which rows of a staged file can't be merged, and why: they are taken out of it and kept for whoever asks. What is found goes into
// tables of the transaction, which are analysed before anything is joined to them: PostgreSQL takes a new table for a small one and
// would read the whole file again for each of its rows.
import type { Sql } from '@almanac/service-kit/database';
import type { DeployedTable } from '../catalogue/structure.ts';
import { reasonsName, rejectedKeysName, rejectionsName } from '../query/identifiers.ts';
import type { Statement } from '../query/statement.ts';
import { findConflictsSql, rejectConflictsSql } from './edited-rows-sql.ts';
import { loadLimits } from './load-limits.ts';
import type { LoadOptions, LoadPlan } from './load-options.ts';
import type { RejectedValue } from './load-result.ts';
import { keepAmbiguousSql, resolveSql } from './lookups.ts';
import { findOrphansSql, linkRowsSql, rejectOrphansSql } from './orphans-sql.ts';
import { countUnknownSql, createRejectedKeysSql, keepRejectedKeysSql } from './rejected-keys-sql.ts';
import { keepRejectedSql } from './rejected-rows.ts';
import * as staged from './staged-sql.ts';
import type { Staging } from './staging.ts';

export type Rejected = {
  count: number;
  /** The first. */
  values: RejectedValue[];
  /** Why the load fails, when it has more of them than it may. */
  excess?: string;
  /** Where the keys of the rejected rows are, when there are any and what the file lacks is to go. */
  keys?: string;
  /** How many rejected rows have no key that can be read: each may be any of the rows that seem to be gone. */
  unknown: number;
  /** Whether what the file lacks does go. */
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
  /** Leave to the constraints what they check anyway. */
  trusting: boolean;
};

/** Takes the rows that break a rule out of the staged file; none of the rest does, and the rejected ones are kept. */
export async function rejectRows(sql: Sql, load: Load): Promise<Rejected> {
  const rejections = new Rejections(sql, load);
  await rejections.run();
  return rejections.result();
}

class Rejections {
  private readonly sql: Sql;
  private readonly load: Load;
  private count = 0;
  private keys: string | undefined;
  private unknown = 0;

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
    const trusting = this.load.trusting && this.count === 0;
    // A row that is deleted and one that is inserted are no matter to the constraint.
    const isUnchecked = plan.key.length > 0 && !(trusting && isEmpty && plan.codePosition === undefined);
    if (isUnchecked && !this.isTooMany()) {
      const { rows: twice } = await this.query(staged.findDuplicatesSql(staging.name, plan));
      if (twice[0]?.found) await this.reject(staged.rejectDuplicatesSql(staging, plan, options));
    }
    if (plan.versions && !this.isTooMany()) await this.rejectConflicts();
    if (this.keys !== undefined) this.unknown = (await this.query(countUnknownSql(staging))).rows[0]?.unknown as number;
    if (!trusting && !this.isTooMany()) await this.rejectOrphans();
  }

  private async rejectConflicts(): Promise<void> {
    const { table, plan, options, staging } = this.load;
    const conflicts = findConflictsSql(staging, table, plan);
    if ((await this.query(conflicts)).rows[0]?.found)
      await this.reject(rejectConflictsSql(staging, table, plan, options));
  }

  private async rejectOrphans(): Promise<void> {
    const { table, plan, options, staging } = this.load;
    const going = { deletes: this.deletes(), ...(this.keys !== undefined && { keys: this.keys }) };
    const orphans = findOrphansSql(staging, table, plan, going);
    if (!orphans || !(await this.query(orphans)).rows[0]?.found) return;
    const links = linkRowsSql(staging, table, plan, going);
    for (const statement of links) await this.sql(statement);
    await this.reject(rejectOrphansSql(staging, table, plan, options, { ...going, linked: links.length > 0 }));
  }

  private async reject({ find, keep }: staged.Rejection): Promise<void> {
    const { plan, staging, isEmpty } = this.load;
    if (this.count === 0) for (const statement of staged.createRejectionsSql(staging)) await this.sql(statement);
    this.count += (await this.query(find)).count;
    await this.sql(`analyze ${rejectionsName(staging.number)}`);
    await this.query(keep);
    if (this.isTooMany()) return; // nothing will be merged
    if (plan.replaces && !isEmpty) {
      if (this.keys === undefined) await this.query(createRejectedKeysSql(staging, plan));
      this.keys = rejectedKeysName(staging.number);
      await this.query(keepRejectedKeysSql(staging, plan));
      await this.sql(`analyze ${this.keys}`);
    }
    await this.sql(staged.removeRejectedSql(staging));
  }

  private isTooMany = () => this.count > loadLimits.rejectedRows;

  private deletes = () => this.load.plan.replaces && !this.load.isEmpty && this.unknown === 0;

  async result(): Promise<Rejected> {
    const { accountId, options, staging } = this.load;
    const base = { count: this.count, unknown: this.unknown, deletes: this.deletes() };
    if (this.count === 0) return { ...base, values: [] };
    await this.sql(`analyze ${reasonsName(staging.number)}`);
    const values = (await this.sql(staged.firstReasonsSql(staging))).rows as RejectedValue[];
    const kept = await this.query(keepRejectedSql(staging.number, { accountId, loadId: options.loadId }));
    const isWhole = kept.rows[0]?.kept === this.count;
    return {
      ...base,
      values,
      ...(this.keys !== undefined && { keys: this.keys }),
      ...(!isWhole && { excess: this.excess(kept.rows[0]?.kept as number) }),
    };
  }

  private excess(kept: number): string {
    const { rejectedRows, rejectedBytes } = loadLimits;
    const many = `${this.count} of ${this.load.staging.rows} rows break rules, and a load may reject ${rejectedRows}`;
    const large = `The ${this.count} rows that break rules hold more than the ${rejectedBytes / 1024 ** 2} MB that a load may reject`;
    return `${this.isTooMany() ? many : large}; nothing was loaded. The first ${kept} are kept: mend what they have in common and try again.`;
  }
}
