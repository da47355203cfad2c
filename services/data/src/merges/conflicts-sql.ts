// The conflicts of a collected merge: how many, the first of them with their values, and the
// decisions that match none. Pure.
import { mergedColumn, mergeName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { typeOf } from '../values/value-types.ts';
import { rowItself } from './decisions/resolutions.ts';
import type { MergePlan } from './merge-plan.ts';
import { isRejectedSql, keyTextsSql } from './merge-relation-sql.ts';

// Longer values are cut: people decide by the beginning, and an answer has a limit.
const shownCharacters = 200;

/**
 * How many conflicts there are in rows that are not rejected, and how many of them are undecided:
 * one row `conflicts`, `undecided`.
 */
export function countConflictsSql({ target }: MergePlan): Statement {
  return {
    text: `select coalesce(sum(cardinality(conflicts)), 0) as conflicts, coalesce(sum(cardinality(undecided)), 0) as undecided from ${mergeName(target)} where not ${isRejectedSql}`,
    values: [],
  };
}

/**
 * The first conflicts by key, undecided ones first: rows of JSON texts `row_key`, `base`, `source`,
 * `target`, and `lineage`, `state`.
 */
export function listConflictsSql(plan: MergePlan, limit: number): Statement {
  const values = new Values();
  const byLineage = (row: string, cell: (lineage: { lineage_id: number }) => string) =>
    `case lineage when ${rowItself} then ${row} ${plan.shared.map(({ to }) => `when ${to.lineage_id} then ${cell(to)}`).join(' ')} end`;
  const shown = (form: 'base' | 'source' | 'target') => (column: { lineage_id: number }) => {
    const { to } = plan.shared.find((each) => each.to === column) as MergePlan['shared'][number];
    const x = mergedColumn(form, column);
    const text = typeOf(to).textSql(x);
    return `case when length(${text}) > ${shownCharacters} then to_json(left(${text}, ${shownCharacters}) || '…')::text else (${typeOf(to).jsonSql(x)})::text end`;
  };
  const keys = plan.key.map((column) => mergedColumn('key', column));
  const name = plan.key.map(
    (column, i) =>
      `${values.bind(`${JSON.stringify(column.name)}:`, 'text')} || (${typeOf(column).jsonSql(keys[i] as string)})::text`,
  );
  const columns = [
    `'{' || ${name.join(` || ',' || `)} || '}' as row_key`,
    'lineage',
    `${byLineage('in_base::text', shown('base'))} as base`,
    `${byLineage('in_source::text', shown('source'))} as source`,
    `${byLineage('(sk is not null)::text', shown('target'))} as target`,
    `${byLineage('row_state', (column) => mergedColumn('state', column))} as state`,
  ];
  return {
    text:
      `select ${columns.join(', ')} from ${mergeName(plan.target)} cross join lateral unnest(conflicts) with ordinality as c (lineage, place)` +
      ` where conflicts <> '{}' and not ${isRejectedSql} order by (lineage = any(undecided)) desc, ${keys.join(', ')}, place limit ${values.bind(limit, 'int')}`,
    values: values.list,
  };
}

/**
 * Decisions about single cells or rows that match no conflict: rows `place`. Undefined when there
 * are no such decisions.
 */
export function unmatchedDecisionsSql(plan: MergePlan): Statement | undefined {
  const decisions = plan.decisions.rows.flatMap(({ key, places }) => places.map((place) => ({ texts: key, ...place })));
  if (decisions.length === 0) return undefined;
  return {
    text:
      `select r.place from jsonb_to_recordset($1::jsonb) as r (texts text[], lineage int, place int)` +
      ` left join ${mergeName(plan.target)} m on r.texts = ${keyTextsSql(plan, 'm.')} and r.lineage = any(m.conflicts)` +
      ` where m.op is null order by r.place`,
    values: [JSON.stringify(decisions)],
  };
}
