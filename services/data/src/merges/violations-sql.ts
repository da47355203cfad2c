// Which rules the outcome would break, each counted over sets before anything is written, so that one answer tells everything. The
// constraints themselves hold in the database, whatever this finds. Pure.

import { columnName, mergedColumn, mergeName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { requiredMessage, sentence, valueChecks } from '../tables/column-rules.ts';
import { hierarchiesOf, hierarchyProblem, namesOf, refersSql } from '../tables/hierarchies.ts';
import { type Column, type DeployedTable, type ForeignKey, getColumn, isRequired } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';
import type { MergePlan } from './merge-plan.ts';

type Question = { table: string; message: string; count: string };

/** What every rule would be broken by: one row, an array `rows` in the order of `questions`. `branch`: the target's tables. */
export function violationsSql(
  plans: MergePlan[],
  branch: DeployedTable[],
): { questions: Question[]; statement: Statement } {
  const values = new Values();
  const byLineage = new Map(plans.map((plan) => [plan.target.lineage_id, plan]));
  const questions = [
    ...plans.flatMap((plan) => [...cellQuestions(plan, values), ...cycleQuestions(plan)]),
    ...branch.flatMap((from) =>
      from.structure.foreign_keys.flatMap((foreignKey) => referenceQuestions(from, foreignKey, branch, byLineage)),
    ),
  ];
  const text = `select array[${questions.map(({ count }) => `(${count})`).join(', ')}]::bigint[] as rows`;
  return { questions, statement: { text, values: values.list, customPlan: true } };
}

const written = `op in ('c', 'u')`;

function cellQuestions(plan: MergePlan, values: Values): Question[] {
  const { target, key, shared, own } = plan;
  const ask = (column: Column, message: string, condition: string): Question => ({
    table: target.name,
    message: sentence(column, message),
    count: `select count(*) from ${mergeName(target)} where ${condition}`,
  });
  const listed = (column: Column, x: string, where: string) =>
    column.valid_values.length === 0
      ? []
      : [
          ask(
            column,
            valueChecks(column).at(-1)?.message as string,
            `${where} and ${x} <> all(${values.bind(column.valid_values, `${typeOf(column).base}[]`)})`,
          ),
        ];
  const cells = shared.flatMap(({ to }) => {
    const [outcome, misfit] = [mergedColumn('outcome', to), mergedColumn('misfit', to)];
    const isTaken = `(op = 'c' or (op = 'u' and ${mergedColumn('state', to)} in ('s', 'S')))`;
    return [
      ask(to, 'has values that don’t fit the column on the target branch', `${isTaken} and ${misfit}`),
      ...(isRequired(to)
        ? [ask(to, requiredMessage, `${written} and ${outcome} is null and not (${isTaken} and ${misfit})`)]
        : []),
      ...listed(to, outcome, written),
    ];
  });
  return [
    ...key.flatMap((column) => listed(column, mergedColumn('key', column), `op = 'c'`)),
    ...cells,
    ...own.filter(isRequired).map((column) => ask(column, requiredMessage, `op = 'c'`)),
  ];
}

/** Where a merge says what a written row holds then, by lineage. */
const settledColumns = ({ key, shared, own }: MergePlan): ReadonlyMap<number, string> =>
  new Map<number, string>([
    ...key.map((column): [number, string] => [column.lineage_id, mergedColumn('key', column)]),
    ...shared.map(({ to }): [number, string] => [to.lineage_id, mergedColumn('outcome', to)]),
    // A new row has no value there; another one keeps the target's.
    ...own.map((column): [number, string] => [column.lineage_id, mergedColumn('target', column)]),
  ]);

// All rows of the target as they would stand; new ones by a negative number of their own.
function cycleQuestions(plan: MergePlan): Question[] {
  const { target } = plan;
  const settled = settledColumns(plan);
  return hierarchiesOf(target).map((hierarchy) => {
    const { columns, target_columns } = hierarchy;
    const all = [...new Set([...target_columns, ...columns])].map((lineage_id) => ({
      name: columnName({ lineage_id }),
      written: `m.${settled.get(lineage_id)}`,
    }));
    const stays = all.map(
      ({ name, written }) => `case when m.sk is null then t.${name} else ${written} end as ${name}`,
    );
    const comes = all.map(({ name, written }) => `${written} as ${name}`);
    const rows = mergeName(target);
    return {
      table: target.name,
      message: hierarchyProblem(namesOf(target, hierarchy)),
      count:
        `select case when exists (select from ${rows} where ${written}) then (with node as materialized (` +
        `select t.svc_sk as id, ${stays.join(', ')} from ${tableName(target)} t left join ${rows} m on m.sk = t.svc_sk and m.op = 'u'` +
        ` where t.svc_live and not exists (select from ${rows} g where g.op = 'd' and g.sk = t.svc_sk)` +
        ` union all select -row_number() over (), ${comes.join(', ')} from ${rows} m where m.op = 'c')` +
        ` select cardinality(rows_on_cycles(array_agg(c.id), array_agg(p.id))) from node c join node p on ${refersSql(hierarchy)}) else 0 end`,
    };
  });
}

// Of a foreign key on the target branch, as it would stand: rows that are written and refer to nothing, and rows left alone whose
// target goes.
function referenceQuestions(
  from: DeployedTable,
  foreignKey: ForeignKey,
  branch: DeployedTable[],
  plans: ReadonlyMap<number, MergePlan>,
): Question[] {
  const target = branch.find(({ lineage_id }) => lineage_id === foreignKey.target_lineage_id) as DeployedTable;
  const [child, parent] = [plans.get(from.lineage_id), plans.get(target.lineage_id)];
  const pairs = foreignKey.columns.map((lineage, i) => ({
    own: getColumn(from.structure, lineage),
    theirs: getColumn(target.structure, foreignKey.target_columns[i] as number),
  }));
  const names = pairs.map(({ own }) => own.name).join(', ');
  const match = (own: (column: Column) => string, theirs: (column: Column) => string) =>
    pairs.map((pair) => `${own(pair.own)} = ${theirs(pair.theirs)}`).join(' and ');
  const keyOf = (alias: string) => (column: Column) => `${alias}.${mergedColumn('key', column)}`;
  const cellOf = (alias: string) => (column: Column) => `${alias}.${columnName(column)}`;
  return [...writtenQuestions(), ...leftQuestions()];

  function writtenQuestions(): Question[] {
    if (!child) return [];
    const settled = settledColumns(child);
    const outcome = (column: Column) => `m.${settled.get(column.lineage_id)}`;
    const goes = parent
      ? ` and not exists (select from ${mergeName(target)} g where g.op = 'd' and g.sk = r.svc_sk)`
      : '';
    const comes = parent
      ? ` and not exists (select from ${mergeName(target)} n where n.op = 'c' and ${match(outcome, keyOf('n'))})`
      : '';
    const given = pairs.map(({ own }) => `${outcome(own)} is not null`).join(' and ');
    return [
      {
        table: from.name,
        message: `${names} must refer to a record of ${target.name}`,
        count:
          `select count(*) from ${mergeName(from)} m where m.${written} and ${given}` +
          ` and not exists (select from ${tableName(target)} r where r.svc_live and ${match(outcome, cellOf('r'))}${goes})${comes}`,
      },
    ];
  }

  function leftQuestions(): Question[] {
    if (!parent) return [];
    const changes = child
      ? ` and not exists (select from ${mergeName(from)} m where m.sk = c.svc_sk and m.op in ('u', 'd'))`
      : '';
    return [
      {
        table: from.name,
        message: `${names} refers to records of ${target.name} that would be deleted`,
        count:
          `select count(*) from ${mergeName(target)} g join ${tableName(from)} c on c.svc_live and ${match(cellOf('c'), keyOf('g'))}` +
          ` where g.op = 'd'${changes}`,
      },
    ];
  }
}
