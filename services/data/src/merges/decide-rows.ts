// Decides rows of a promotion before it is merged. A rejected row stays as the target has it.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { requireResident } from '../clusters/account-placement.ts';
import { lockRowDecisions } from '../postgres/advisory-locks.ts';
import type { Pools } from '../postgres/pools.ts';
import { answerChunks } from '../rows/answer-chunks.ts';
import { objectSql, valueJsonSql } from '../rows/json-members-sql.ts';
import { mergedColumn } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { exactForm } from '../tables/open-table.ts';
import { decideSql, listDecisionsSql, rowDecisions } from './decisions/row-decisions.ts';
import type { MergePlan } from './merge-plan.ts';
import { keyTextsSql, mergedRowsSql } from './merge-relation-sql.ts';
import type { MergePair } from './merge-request.ts';
import { matchesSql } from './merge-window-sql.ts';
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
  const decideAll = async (plans: MergePlan[], query: Query) => {
    let count = 0;
    for (const each of decisions) {
      let found = 0;
      for (const plan of plans) {
        const statement = decideStatement(plan, each, call.userId);
        if (statement) found += Number((await query(statement)).decided);
      }
      if (!each.filter && found < distinct(each.rows)) throw unknownRows(each.rows);
      count += found;
    }
    return { decided_count: count };
  };
  // One after the other, each seeing what was decided before.
  const lock = async (sql: Sql) => {
    await requireResident(sql, call);
    await lockRowDecisions(sql, promotion_id);
  };
  return withPlans(parts, call, { pairs, promotion_id }, signal, decideAll, { isolation: 'read committed', lock });
}

/** Decides the wanted rows of the table; undefined when there are none among them. */
function decideStatement(
  plan: MergePlan,
  { rows, filter, decision, comment }: Decision,
  userId: number | undefined,
): Statement | undefined {
  const { bind, list } = new Values();
  const id = plan.source.table_definition_id;
  const texts = keyTextsSql(plan);
  const keys = keysOf(plan, rows);
  const isWanted = filter ? filter.source_table_id === 0 || filter.source_table_id === id : keys.length > 0;
  if (!isWanted) return undefined;
  const condition = filter
    ? matchesSql(readFilter(filter), bind)
    : `${texts} in (select r.key from jsonb_to_recordset(${bind(JSON.stringify(keys), 'jsonb')}) as r (key text[]))`;
  const table = exactForm(plan.target);
  const key = plan.key.map((column) => ({
    name: column.name,
    json: valueJsonSql(table, column, mergedColumn('key', column)),
    when: 'true',
  }));
  const found = {
    from: `(${mergedRowsSql(plan, bind)}) m where ${condition}`,
    keyTexts: texts,
    keyJson: objectSql(key, bind),
  };
  const verdict = { decision: readWord(rowDecisions, decision) ?? 'undecided', comment, userId };
  return { text: decideSql(plan, found, verdict, bind), values: list, customPlan: true };
}

// A key that lacks a column of the primary key, or has another, is of no row.
function keysOf({ source, key: columns }: MergePlan, rows: RowKey[]): { key: string[] }[] {
  const names = columns.map(({ name }) => name);
  return rows
    .filter(({ source_table_id: id, key }) => id === source.table_definition_id && hasNames(key, names))
    .map(({ key }) => ({ key: names.map((name) => key[name] as string) }));
}

const hasNames = (key: RowKey['key'], names: string[]) =>
  Object.keys(key).length === names.length && names.every((name) => Object.hasOwn(key, name));

const distinct = (rows: RowKey[]): number =>
  new Set(rows.map(({ source_table_id, key }) => JSON.stringify([source_table_id, Object.entries(key).toSorted()])))
    .size;

const shownCharacters = 200;

function unknownRows(rows: RowKey[]): ServiceError {
  const [first] = rows;
  const message =
    rows.length === 1
      ? `The promotion changes no row ${JSON.stringify(first?.key).slice(0, shownCharacters)}.`
      : `The promotion doesn’t change all of the ${rows.length} rows.`;
  return new ServiceError('not_found', { code: 'not_found', message });
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
