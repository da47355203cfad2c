// Which rules the outcome of a write of many rows would break: queried when the database has
// refused it, so that the answer names the rows. Pure. The database itself enforces the rules.
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import { columnName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import { type Column, type DeployedTable, type ForeignKey, keyColumns } from '../../tables/table.ts';
import type { Bind } from '../../values/check.ts';
import { foreignKeyProblem, keyProblem, notUnique, type Referrer } from '../constraint-sql.ts';
import { cellQuestions } from '../history/restore-sql.ts';

/**
 * Selects the written rows: `id`, `was_live`, `is_live`, and of each column its value before as
 * `old_…` and after as `new_…`.
 */
export type OutcomeSql = (values: Values, columns: readonly Column[]) => string;

/** `other`: another row, or a number of rows. `total`: how many problems there are. */
export type FoundProblem = { id: number | string; question: number; other: number | string; total: number };

type Question = {
  /** Selects `id` and `other` of the rows with the problem. */
  sql: string;
  problem: (other: number | string) => Problem;
};

/**
 * One row for each of the first problems, by rows. `columns`: those of the outcome; `isChecked`:
 * their values are not checked yet. `referring`: the foreign keys that refer to the table.
 */
export function outcomeProblemsSql(
  table: DeployedTable,
  outcome: OutcomeSql,
  { columns, isChecked, referring }: { columns: readonly Column[]; isChecked: boolean; referring: Referrer[] },
): { statement: Statement; questions: Question[] } {
  const values = new Values();
  const key = keyColumns(table.structure).map((column) => column.lineage_id);
  const rows = outcome(values, columns);
  const questions = [
    ...keyQuestions(table, key),
    ...table.structure.foreign_keys.map((foreignKey) => targetQuestion(table, key, foreignKey)),
    ...referring.map((referrer) => referrersQuestion(table, key, referrer)),
    ...(isChecked ? [] : columns.flatMap((column) => valueQuestions(column, values.bind))),
  ];
  const found = questions.map(({ sql }, i) => `select id, ${i} as question, other from (${sql}) q`);
  const text =
    `with op as materialized (${rows})` +
    ` select id, question, other, count(*) over () as total from (${found.join(' union all ')}) found order by id, question limit ${limits.problems}`;
  return { statement: { text, values: values.list, customPlan: true }, questions };
}

const name = (lineage_id: number) => columnName({ lineage_id });
const before = (row: string) => (lineage: number) => `${row}.old_${name(lineage)}`;
const after = (row: string) => (lineage: number) => `${row}.new_${name(lineage)}`;
const own = (row: string) => (lineage: number) => `${row}.${name(lineage)}`;

type Side = (lineage: number) => string;

const isEqual = (lineages: number[], left: Side, others: number[], right: Side) =>
  lineages.map((lineage, i) => `${left(lineage)} = ${right(others[i] as number)}`).join(' and ');

const isMoved = (row: string, lineages: number[]) =>
  `(${lineages.map((each) => `${after(row)(each)} is distinct from ${before(row)(each)}`).join(' or ')})`;

/** Rows that get a key that they did not have. */
const takesKey = (row: string, key: number[]) => `${row}.is_live and (not ${row}.was_live or ${isMoved(row, key)})`;

/** Rows that give their key up. */
const freesKey = (row: string, key: number[]) => `${row}.was_live and (not ${row}.is_live or ${isMoved(row, key)})`;

function keyQuestions(table: DeployedTable, key: number[]): Question[] {
  if (key.length === 0) return [];
  const cells = key.map(after('n')).join(', ');
  return [
    {
      sql:
        `select n.id, 0 as other from op n where ${takesKey('n', key)} and exists (select from ${tableName(table)} o where o.svc_live` +
        ` and ${isEqual(key, own('o'), key, after('n'))} and o.svc_sk <> n.id` +
        ` and not exists (select from op x where x.id = o.svc_sk and ${freesKey('x', key)}))`,
      problem: () => keyProblem(table),
    },
    {
      sql:
        `select id, first as other from (select n.id, min(n.id) over (partition by ${cells}) as first from op n` +
        ` where ${takesKey('n', key)}) alike where id <> first`,
      problem: (other) => notUnique(table, `record ${other} gets the same value`, { row: other }),
    },
    {
      // PostgreSQL checks keys row by row, so whether it can be done depends on their order.
      sql:
        `select n.id, x.id as other from op n join op x on x.id <> n.id and ${isEqual(key, before('x'), key, after('n'))}` +
        ` where ${takesKey('n', key)} and n.was_live and ${freesKey('x', key)} and x.is_live`,
      problem: (other) =>
        notUnique(table, `record ${other} gives this value up, but no value can go from record to record at once`, {
          row: other,
        }),
    },
  ];
}

function targetQuestion(table: DeployedTable, key: number[], foreignKey: ForeignKey): Question {
  const { columns, target_columns, target_lineage_id } = foreignKey;
  const target = tableName({ branch_id: table.branch_id, lineage_id: target_lineage_id });
  const isSelf = target_lineage_id === table.lineage_id;
  const stays = isSelf ? ` and not exists (select from op x where x.id = r.svc_sk and ${freesKey('x', key)})` : '';
  const comes = isSelf
    ? ` and not exists (select from op m where ${takesKey('m', key)} and ${isEqual(target_columns, after('m'), columns, after('n'))})`
    : '';
  const filled = columns.map((lineage) => `${after('n')(lineage)} is not null`).join(' and ');
  return {
    sql:
      `select n.id, 0 as other from op n where n.is_live and (not n.was_live or ${isMoved('n', columns)}) and ${filled}` +
      ` and not exists (select from ${target} r where r.svc_live and ${isEqual(target_columns, own('r'), columns, after('n'))}${stays})${comes}`,
    problem: () => foreignKeyProblem(table, foreignKey),
  };
}

// Rows of the write that refer to another row afterwards, or to none, don't count; another row of
// it may take the key over. Joins, since each side may have very many rows.
function referrersQuestion(table: DeployedTable, key: number[], { from, foreignKey }: Referrer): Question {
  const { columns, target_columns } = foreignKey;
  const isSelf = from.lineage_id === table.lineage_id;
  const written = isSelf ? ' left join op y on y.id = s.svc_sk' : '';
  const stays = isSelf ? ` and (y.id is null or (y.is_live and not ${isMoved('y', columns)}))` : '';
  return {
    sql:
      `select x.id, count(*) as other from op x join ${tableName(from)} s on s.svc_live and ${isEqual(columns, own('s'), target_columns, before('x'))}${written}` +
      ` where ${freesKey('x', key)}${stays}` +
      ` and not exists (select from op m where ${takesKey('m', key)} and ${isEqual(key, after('m'), key, before('x'))}) group by x.id`,
    problem: (other) => ({
      code: 'still_referenced',
      message: `it is still referred to by ${other} ${Number(other) === 1 ? 'record' : 'records'} of ${from.name}`,
      params: { table: from.name, table_definition_id: from.table_definition_id, count: Number(other) },
    }),
  };
}

function valueQuestions(column: Column, bind: Bind): Question[] {
  return cellQuestions(column, `n.new_${columnName(column)}`, bind).map(({ condition, problem }) => ({
    sql: `select n.id, 0 as other from op n where n.is_live and ${condition}`,
    problem: () => problem,
  }));
}
