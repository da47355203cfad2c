// Decides rows of a promotion before it is merged. A rejected row stays as the target has it.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Pools } from '../postgres/pools.ts';
import { answerChunks } from '../rows/answer-chunks.ts';
import { objectSql, valueJsonSql } from '../rows/json-members-sql.ts';
import { mergedColumn } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { exactForm } from '../tables/open-table.ts';
import { keyColumns } from '../tables/table.ts';
import { decideSql, listDecisionsSql, type RowDecision, rowDecisions } from './decisions/row-decisions.ts';
import type { MergePlan } from './merge-plan.ts';
import { decidedIn, keyTextsSql, mergedRowsSql } from './merge-relation-sql.ts';
import type { MergePair } from './merge-request.ts';
import { type MergedFilter, matchesSql } from './merge-window-sql.ts';
import {
  type MergedRowFilter,
  type MergeReadParts,
  type Query,
  readFilter,
  readWindow,
  readWord,
  withPlans,
} from './read-merge.ts';

type RowKey = { source_table_id: number; key: Record<string, string> };

/** What is decided: these rows, or all that match. `source_table_id` 0: of all tables. */
type Decision = {
  rows: RowKey[];
  filter?: (MergedRowFilter & { source_table_id: number }) | null | undefined;
  decision: string;
  comment?: string | undefined;
};

type Decisions = { promotion_id: number; pairs: MergePair[]; decisions: Decision[] };

/**
 * Decides rows that merging these tables would change, all or none, in the order of the list, and
 * answers how many. 404 names rows that it would not change.
 */
export async function decideMergedRows(
  parts: MergeReadParts,
  call: CallContext,
  { promotion_id, pairs, decisions }: Decisions,
  signal: AbortSignal,
): Promise<{ decided_count: number }> {
  const wanted = decisions.map(({ decision, ...each }) => ({
    ...each,
    decision: readWord(rowDecisions, decision) ?? 'undecided',
    where: whereOf(each),
  }));
  const decide = async (plans: MergePlan[], query: Query) => {
    let count = 0;
    for (const { rows, decision, comment, where } of wanted) {
      const unknown = rows.filter(
        ({ source_table_id: id }) => !plans.some(({ source }) => source.table_definition_id === id),
      );
      if (unknown.length > 0) throw unknownRows(unknown);
      for (const plan of plans) {
        const some = where(plan);
        if (!some) continue;
        const verdict = { decision, comment, userId: call.userId };
        const decided = Number((await query(decideStatement(plan, promotion_id, some, verdict))).decided);
        if (some.keys && decided < some.keys.length)
          throw unknownRows(rows.filter(({ source_table_id: id }) => id === plan.source.table_definition_id));
        count += decided;
      }
    }
    return { decided_count: count };
  };
  return withPlans(parts, call, { pairs, promotion_id }, signal, decide, 'decide');
}

/** Rows of a table by the texts of their keys, or those that match. */
type Some = { keys?: string[][]; filter: MergedFilter };

function whereOf({ rows, filter }: Pick<Decision, 'rows' | 'filter'>): (plan: MergePlan) => Some | undefined {
  if (filter) {
    const { source_table_id: id, ...words } = filter;
    const some = { filter: readFilter(words) };
    return ({ source }) => (id === 0 || id === source.table_definition_id ? some : undefined);
  }
  return ({ source, target }) => {
    const names = keyColumns(target.structure).map(({ name }) => name);
    const own = rows.filter(({ source_table_id: id }) => id === source.table_definition_id);
    const keys = own.map(({ key }) => {
      const texts = names.flatMap((name) => key[name] ?? []);
      if (texts.length < names.length || Object.keys(key).length > names.length)
        throw unknownRows([{ source_table_id: source.table_definition_id, key }]);
      return texts;
    });
    const distinct = new Map(keys.map((texts) => [JSON.stringify(texts), texts]));
    return keys.length === 0 ? undefined : { keys: [...distinct.values()], filter: {} };
  };
}

function decideStatement(
  plan: MergePlan,
  promotionId: number,
  { keys, filter }: Some,
  verdict: { decision: RowDecision; comment: string | undefined; userId: number | undefined },
): Statement {
  const { bind, list } = new Values();
  const texts = keyTextsSql(plan);
  const given = keys && bind(JSON.stringify(keys.map((key) => ({ key }))), 'jsonb');
  const named = given ? ` and ${texts} in (select r.key from jsonb_to_recordset(${given}) as r (key text[]))` : '';
  const table = exactForm(plan.target);
  const key = plan.key.map((column) => ({
    name: column.name,
    json: valueJsonSql(table, column, mergedColumn('key', column)),
    when: 'true',
  }));
  // Also those that were decided a moment ago.
  const from = `(${mergedRowsSql({ ...plan, decidedIn: promotionId }, bind)}) m where ${matchesSql(filter, bind)}${named}`;
  const rows = { from, keyTexts: texts, keyJson: objectSql(key, bind) };
  return { text: decideSql(decidedIn(plan, promotionId), rows, verdict, bind), values: list, customPlan: true };
}

const shownCharacters = 200;

function unknownRows(rows: RowKey[]): ServiceError {
  const [first] = rows;
  const shown = JSON.stringify(first?.key).slice(0, shownCharacters);
  return new ServiceError('not_found', {
    code: 'not_found',
    message:
      rows.length === 1
        ? `The promotion changes no row ${shown}.`
        : `The promotion doesn’t change all of the ${rows.length} rows.`,
  });
}

type DecisionsRequest = {
  promotion_id: number;
  source_table_ids: number[];
  decision: string;
  start_row: number;
  end_row: number;
};

/** A window of the decisions, as chunks of the JSON {rows, rowCount}. */
export async function listRowDecisions(
  { pools }: { pools: Pools },
  { accountId }: CallContext,
  { promotion_id: promotionId, source_table_ids: tableIds, decision, ...window }: DecisionsRequest,
): Promise<Buffer[]> {
  const wanted = { accountId, promotionId, tableIds, decision: readWord(rowDecisions, decision) };
  const { text, values } = listDecisionsSql({ ...wanted, ...readWindow(window) });
  const { rows } = await pgSql(pools.rows)(text, values);
  return answerChunks(`{"rows":[${rows[0]?.answer}],"rowCount":${rows[0]?.matching}}`);
}
