// Which constraints a row would break: queried when the database refused it, or besides other
// problems, so that one answer names every problem. Pure. The database itself enforces the
// constraints.

import type { Place, Problem } from '@almanac/service-kit/problems';
import { columnName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { type DeployedTable, type ForeignKey, getColumn, keyColumns } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';
import type { Cells } from './record-input.ts';

/**
 * One row `broken`, an array of booleans: whether the primary key is taken, then whether the target
 * of each foreign key is missing. `id`: the row that is changed; it provides the other cells.
 * Undefined when no constraint is concerned.
 */
export function constraintProblemsSql(
  table: DeployedTable,
  cells: Cells,
  id: string | undefined,
): { statement: Statement; problems: Problem[] } | undefined {
  const values = new Values();
  const byLineage = new Map([...cells].map(([column, cell]) => [column.lineage_id, cell]));
  const known = (lineage: number) => byLineage.has(lineage) || id !== undefined;
  const operand = (lineage: number) => {
    const column = getColumn(table.structure, lineage);
    return byLineage.has(lineage)
      ? values.bind(byLineage.get(lineage), typeOf(column).base)
      : `own.${columnName(column)}`;
  };
  const named = (lineages: number[]) => lineages.some((lineage) => byLineage.has(lineage));
  const questions: string[] = [];
  const problems: Problem[] = [];

  const key = keyColumns(table.structure).map((column) => column.lineage_id);
  if (key.length > 0 && key.every(known) && named(key)) {
    const equal = key.map((lineage) => `o.${columnName({ lineage_id: lineage })} = ${operand(lineage)}`);
    const other = id === undefined ? '' : ` and o.svc_sk <> ${values.bind(id, 'bigint')}`;
    questions.push(`exists (select from ${tableName(table)} o where o.svc_live and ${equal.join(' and ')}${other})`);
    problems.push(keyProblem(table));
  }
  for (const foreignKey of table.structure.foreign_keys) {
    if (!foreignKey.columns.every(known) || !named(foreignKey.columns)) continue;
    if (foreignKey.columns.some((lineage) => byLineage.has(lineage) && byLineage.get(lineage) === null)) continue;
    questions.push(missingTargetSql(table, foreignKey, operand, cells));
    problems.push(foreignKeyProblem(table, foreignKey));
  }
  if (questions.length === 0) return undefined;
  const from = id === undefined ? '' : ` from ${tableName(table)} own where own.svc_sk = ${values.bind(id, 'bigint')}`;
  return {
    statement: { text: `select array[${questions.join(', ')}] as broken${from}`, values: values.list },
    problems,
  };
}

/** The problem of a taken primary key. */
export const keyProblem = (table: DeployedTable): Problem => notUnique(table, 'a record with this value exists');

/** The same for another reason. */
export function notUnique(table: DeployedTable, reason: string, params?: Problem['params']): Problem {
  const names = keyColumns(table.structure).map(({ name }) => name);
  return { code: 'taken', message: `${names.join(', ')} must be unique: ${reason}`, ...placeOf(names, params) };
}

/** The problem of a reference without a target. */
export function foreignKeyProblem(table: DeployedTable, { columns, target_table_id }: ForeignKey): Problem {
  const names = columns.map((lineage) => getColumn(table.structure, lineage).name);
  return {
    code: 'invalid_reference',
    message: `${names.join(', ')} must refer to a record of the referenced table`,
    ...placeOf(names, { table_definition_id: target_table_id }),
  };
}

// A problem of several columns is at the first of them, and names them all.
const placeOf = (names: string[], params: Problem['params'] = {}): Place => ({
  ...(names[0] === undefined ? {} : { column: names[0] }),
  ...(names.length > 1 || Object.keys(params).length > 0
    ? { params: { ...(names.length > 1 && { columns: names }), ...params } }
    : {}),
});

function missingTargetSql(
  table: DeployedTable,
  foreignKey: ForeignKey,
  operand: (lineage: number) => string,
  cells: Cells,
): string {
  const target = { branch_id: table.branch_id, lineage_id: foreignKey.target_lineage_id };
  const pairs = foreignKey.columns.map((lineage, i) => ({
    target: columnName({ lineage_id: foreignKey.target_columns[i] as number }),
    operand: operand(lineage),
  }));
  const exists = `exists (select from ${tableName(target)} r where r.svc_live and ${pairs.map((pair) => `r.${pair.target} = ${pair.operand}`).join(' and ')})`;
  const given = `(${pairs.map((pair) => `${pair.operand} is not null`).join(' and ')})`;
  // A record may refer to itself.
  const own =
    foreignKey.target_lineage_id === table.lineage_id &&
    foreignKey.target_columns.every((lineage) => hasCell(cells, lineage))
      ? ` and not (${pairs.map((pair, i) => `${operand(foreignKey.target_columns[i] as number)} = ${pair.operand}`).join(' and ')})`
      : '';
  return `${given} and not ${exists}${own}`;
}

const hasCell = (cells: Cells, lineage: number) => [...cells.keys()].some((column) => column.lineage_id === lineage);

/**
 * Live rows that refer to any of these rows of `table`: one row per referring foreign key with
 * `rows`, in the order of `referring`. Undefined when nothing refers to the table.
 */
export function referrersSql(table: DeployedTable, referring: Referrer[], ids: string[]): Statement | undefined {
  if (referring.length === 0) return undefined;
  const values = new Values();
  const list = values.bind(ids, 'bigint[]');
  const counts = referring.map(({ from, foreignKey }, i) => {
    const pairs = foreignKey.columns.map(
      (lineage, n) =>
        `s.${columnName({ lineage_id: lineage })} = t.${columnName({ lineage_id: foreignKey.target_columns[n] as number })}`,
    );
    const self = from.lineage_id === table.lineage_id ? ` and s.svc_sk <> all(${list})` : '';
    return (
      `select ${i + 1} as place, count(*) as rows, array(select t.svc_sk from ${tableName(table)} t where t.svc_sk = any(${list}) and t.svc_live` +
      ` and exists (select from ${tableName(from)} s where s.svc_live and ${pairs.join(' and ')}${self}) order by 1 limit 10) as ids` +
      ` from ${tableName(table)} t join ${tableName(from)} s on ${pairs.join(' and ')} where t.svc_sk = any(${list}) and t.svc_live and s.svc_live${self}`
    );
  });
  return {
    text: `select * from (${counts.join(' union all ')}) counted where rows > 0 order by place`,
    values: values.list,
  };
}

export type Referrer = { from: DeployedTable; foreignKey: ForeignKey };

/** The foreign keys of a branch's tables that refer to `table`. */
export function referrersOf(table: Pick<DeployedTable, 'table_definition_id'>, branch: DeployedTable[]): Referrer[] {
  return branch.flatMap((from) =>
    from.structure.foreign_keys
      .filter((foreignKey) => foreignKey.target_table_id === table.table_definition_id)
      .map((foreignKey) => ({ from, foreignKey })),
  );
}
