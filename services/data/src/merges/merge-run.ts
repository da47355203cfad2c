// One attempt at a merge, in one transaction: from reading the catalogue to the kept result.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Sql } from '@almanac/service-kit/postgres/database';
import { listBranch } from '../deployments/removal.ts';
import { moveBase } from '../deployments/row-base.ts';
import { originOf } from '../rows/origin.ts';
import { stampSql } from '../rows/write-time.ts';
import { mergeName, tableName } from '../sql/identifiers.ts';
import type { Statement } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import { countConflictsSql, listConflictsSql, unmatchedDecisionsSql } from './conflicts-sql.ts';
import { rowItself } from './decisions/resolutions.ts';
import { createRowsSql, deleteRowsSql, updateRowsSql } from './merge-effects-sql.ts';
import { type MergePlan, mergedLineages, type TableMessage } from './merge-plan.ts';
import { collectSql } from './merge-relation-sql.ts';
import type { MergePair, MergeRequest } from './merge-request.ts';
import {
  findMerged,
  type MergedTable,
  type MergeResult,
  RolledBack,
  type RowConflict,
  refusedMerge,
} from './merge-result.ts';
import { findChanged, type MergeSummary, readSummary, summarySql } from './merge-summary.ts';
import { planMerges } from './planned-merges.ts';
import { violationsSql } from './violations-sql.ts';

const maxConflicts = 1000;
// An answer has at most 4 MiB; keys may be long.
const maxConflictBytes = 3_000_000;

type MergeOptions = {
  tables: ReadonlyMap<number, DeployedTable>;
  /** The instant as of which sources are read; undefined: now. */
  at: string | undefined;
  /** Keeps other writers out. */
  exclusive: boolean;
};

export class MergeRun {
  private readonly sql: Sql;
  private readonly call: CallContext;
  private readonly request: MergeRequest;
  private readonly options: MergeOptions;

  constructor(sql: Sql, call: CallContext, request: MergeRequest, options: MergeOptions) {
    this.sql = sql;
    this.call = call;
    this.request = request;
    this.options = options;
  }

  private async query({ text, values }: Statement): Promise<Record<string, unknown>[]> {
    return (await this.sql(text, values)).rows;
  }

  private async count({ text, values }: Statement): Promise<number> {
    return (await this.sql(text, values)).rowCount ?? 0;
  }

  /** Answers the result, and keeps it. Throws `RolledBack` when nothing is to be kept. */
  async run(): Promise<MergeResult> {
    const { sql, call, request } = this;
    await this.lockTables();
    if (!request.rehearsal) {
      const { rows: begun } = await sql(
        `insert into finished_merge (account_id, merge_id, result) values ($1::int, $2, '{}') on conflict do nothing returning true`,
        [call.accountId, request.merge_id],
      );
      if (begun.length === 0) return (await findMerged(sql, call.accountId, request.merge_id)) as MergeResult;
    }
    const { tables: known, at } = this.options;
    const planned = await planMerges(sql, call.accountId, request, { tables: known, at });
    const plans = parentsFirst(planned.plans);
    for (const plan of plans) await this.collect(plan);
    const summaries = await this.summarize(plans);
    const changed = request.has_revisions ? findChanged(request.revisions, summaries) : [];
    if (changed.length > 0) throw new RolledBack({ ...refusedMerge, summaries, changed_tables: changed });
    const conflicts = await this.conflicts(plans);
    const violations = [...planned.violations, ...(await this.findViolations(plans))];
    const found = { ...conflicts, violations, warnings: planned.warnings, summaries, changed_tables: [] };
    const isOpen = conflicts.undecided_count + conflicts.unmatched_resolutions.length > 0;
    if (violations.length > 0 || (isOpen && !request.rehearsal))
      throw new RolledBack({ status: 'refused', ...found, tables: [] });
    const tables = await this.write(plans);
    if (request.rehearsal) throw new RolledBack({ status: 'rehearsed', ...found, tables });
    const result: MergeResult = { status: 'merged', ...found, conflicts: [], tables };
    await sql('update finished_merge set result = $3::jsonb where account_id = $1::int and merge_id = $2', [
      call.accountId,
      request.merge_id,
      JSON.stringify(result),
    ]);
    return result;
  }

  // SET LOCAL and LOCK take no snapshot. The first statement that does reads the catalogue, when
  // the locks already keep deployments out.
  private async lockTables(): Promise<void> {
    for (const setting of [
      'statement_timeout = 0',
      "lock_timeout = '30s'",
      "work_mem = '128MB'",
      'idle_in_transaction_session_timeout = 0',
    ])
      await this.sql(`set local ${setting}`);
    const mode = this.options.exclusive ? 'share row exclusive' : 'row exclusive';
    const inOrder = (ids: (pair: MergePair) => number) =>
      this.request.pairs
        .flatMap((pair) => this.options.tables.get(ids(pair)) ?? [])
        .toSorted((a, b) => a.lineage_id - b.lineage_id)
        .map(tableName);
    const targets = inOrder((pair) => pair.target_table_id);
    const sources = inOrder((pair) => pair.source_table_id);
    if (targets.length > 0) await this.sql(`lock table ${targets.join(', ')} in ${mode} mode`);
    if (sources.length > 0) await this.sql(`lock table ${sources.join(', ')} in access share mode`);
  }

  private async collect(plan: MergePlan): Promise<void> {
    await this.count(collectSql(plan));
    // Without statistics the planner would estimate a handful of rows for a hundred thousand.
    await this.sql(`analyze ${mergeName(plan.target)}`);
  }

  // A rehearsal answers them, and a merge of what was seen is compared with it by them.
  private async summarize(plans: MergePlan[]): Promise<MergeSummary[]> {
    const { rehearsal, has_revisions: isReviewed } = this.request;
    if (!rehearsal && !isReviewed) return [];
    const summaries: MergeSummary[] = [];
    for (const plan of plans)
      summaries.push(readSummary(plan, (await this.query(summarySql(plan, () => mergeName(plan.target))))[0]));
    return summaries;
  }

  private async conflicts(plans: MergePlan[]) {
    const found = { conflicts: [] as RowConflict[], conflict_count: 0, undecided_count: 0 };
    const keys = new Set(plans.map(({ target }) => target.key));
    const unmatched = this.request.resolutions.flatMap(({ table }, place) => (keys.has(table) ? [] : [place]));
    for (const plan of plans) {
      const [row] = await this.query(countConflictsSql(plan));
      found.conflict_count += Number(row?.conflicts);
      found.undecided_count += Number(row?.undecided);
      const room = maxConflicts - found.conflicts.length;
      if (Number(row?.conflicts) > 0 && room > 0)
        found.conflicts.push(
          ...(await this.query(listConflictsSql(plan, room))).map((each) => readConflict(plan, each)),
        );
      unmatched.push(...plan.decisions.unmatched);
      const decided = unmatchedDecisionsSql(plan);
      if (decided) unmatched.push(...(await this.query(decided)).map(({ place }) => place as number));
    }
    return {
      ...found,
      conflicts: fitAnswer(found.conflicts),
      unmatched_resolutions: unmatched.toSorted((a, b) => a - b),
    };
  }

  private async findViolations(plans: MergePlan[]): Promise<TableMessage[]> {
    const [first] = plans;
    if (!first) return [];
    const branch = await listBranch(this.sql, this.call.accountId, first.target.branch_id);
    const { checks, statement } = violationsSql(plans, branch);
    if (checks.length === 0) return [];
    const [row] = await this.query(statement);
    const counts = (row?.rows ?? []) as (number | string)[];
    return checks
      .map(({ table, message }, i) => ({ table, message, rows: Number(counts[i]) }))
      .filter(({ rows }) => rows > 0);
  }

  // New and changed rows of referenced tables come first; deletions come last, those of referring
  // rows before the rows they refer to.
  private async write(plans: MergePlan[]): Promise<MergedTable[]> {
    const { actor, requestId } = originOf(this.call, 'promotion');
    const written: { plan: MergePlan; stamp: { at: string; actor: string }; merged: MergedTable }[] = [];
    for (const plan of plans) {
      const [clock] = await this.query(stampSql(plan.target));
      const stamp = { at: clock?.at as string, actor };
      const created = await this.count(createRowsSql(plan, stamp));
      const updated = await this.count(updateRowsSql(plan, stamp));
      const { source, target } = plan;
      const ids = { source_table_id: source.table_definition_id, target_table_id: target.table_definition_id };
      written.push({ plan, stamp, merged: { ...ids, table: target.key, created, updated, deleted: 0 } });
    }
    for (const { plan, stamp, merged } of written.toReversed())
      merged.deleted = await this.count(deleteRowsSql(plan, stamp));
    for (const { plan, stamp, merged } of written) {
      const { created, updated, deleted } = merged;
      if (created + updated + deleted > 0)
        await this.sql(
          'insert into bulk_write (table_definition_id, account_id, at, request_id) values ($1::int, $2::int, $3::timestamptz, $4)',
          [merged.target_table_id, this.call.accountId, stamp.at, requestId],
        );
      if (!this.request.rehearsal)
        await moveBase(this.sql, plan, [{ table: plan.source, at: plan.at, columns: mergedLineages(plan) }]);
    }
    return written.map(({ merged }) => merged);
  }
}

/** The first conflicts, as many as an answer holds. */
function fitAnswer(conflicts: RowConflict[]): RowConflict[] {
  let left = maxConflictBytes;
  return conflicts.filter((conflict) => {
    left -= Buffer.byteLength(JSON.stringify(conflict));
    return left >= 0;
  });
}

function readConflict({ target, shared }: MergePlan, row: Record<string, unknown>): RowConflict {
  const { lineage, state } = row as { lineage: number; state: string };
  const text = (value: unknown) => (value as string | null) ?? 'null';
  return {
    table: target.key,
    row_key: row.row_key as string,
    column: lineage === rowItself ? '' : (shared.find(({ to }) => to.lineage_id === lineage)?.to.name as string),
    base: text(row.base),
    source: text(row.source),
    target: text(row.target),
    resolution: state === 'S' ? 'source' : state === 'T' ? 'target' : '',
  };
}

// Orders tables after those they refer to, except within circles.
function parentsFirst(plans: MergePlan[]): MergePlan[] {
  const left = new Map(plans.map((plan) => [plan.target.lineage_id, plan]));
  const ordered: MergePlan[] = [];
  const place = (plan: MergePlan) => {
    if (!left.delete(plan.target.lineage_id)) return;
    for (const { target_lineage_id } of plan.target.structure.foreign_keys) {
      const parent = left.get(target_lineage_id);
      if (parent) place(parent);
    }
    ordered.push(plan);
  };
  for (const plan of plans) place(plan);
  return ordered;
}
