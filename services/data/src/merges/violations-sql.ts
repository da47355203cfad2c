// Which rules the outcome of a merge would break, each counted over sets before anything is
// written, so that one answer names all. The constraints in the database hold anyway. Pure.

import { columnName, mergedColumn, mergeName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { requiredMessage, sentence, valueChecks } from '../tables/column-rules.ts';
import { hierarchiesOf, hierarchyProblem, namesOf, refersSql } from '../tables/hierarchies.ts';
import { type Column, type DeployedTable, type ForeignKey, getColumn, isRequired } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';
import type { MergePlan } from './merge-plan.ts';

type RuleCheck = { table: string; message: string; count: string };

/**
 * How many rows would break each rule: one row, an array `rows` in the order of `checks`.
 * `branch`: the tables of the target branch.
 */
export function violationsSql(
  plans: MergePlan[],
  branch: DeployedTable[],
): { checks: RuleCheck[]; statement: Statement } {
  const values = new Values();
  const byLineage = new Map(plans.map((plan) => [plan.target.lineage_id, plan]));
  const checks = [
    ...plans.flatMap((plan) => [...cellChecks(plan, values), ...cycleChecks(plan)]),
    ...branch.flatMap((from) =>
      from.structure.foreign_keys.flatMap((foreignKey) => referenceChecks(from, foreignKey, branch, byLineage)),
    ),
  ];
  const text = `select array[${checks.map(({ count }) => `(${count})`).join(', ')}]::bigint[] as rows`;
  return { checks, statement: { text, values: values.list, customPlan: true } };
}

const written = `op in ('c', 'u')`;

function cellChecks(plan: MergePlan, values: Values): RuleCheck[] {
  const { target, key, shared, own } = plan;
  const ask = (column: Column, message: string, condition: string): RuleCheck => ({
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

/** The columns that hold the outcome of a written row, by lineage. */
const outcomeColumns = ({ key, shared, own }: MergePlan): ReadonlyMap<number, string> =>
  new Map<number, string>([
    ...key.map((column): [number, string] => [column.lineage_id, mergedColumn('key', column)]),
    ...shared.map(({ to }): [number, string] => [to.lineage_id, mergedColumn('outcome', to)]),
    // A new row has no value there; another row keeps the target's.
    ...own.map((column): [number, string] => [column.lineage_id, mergedColumn('target', column)]),
  ]);

// All rows of the target as they would be; new ones by a negative number.
function cycleChecks(plan: MergePlan): RuleCheck[] {
  const { target } = plan;
  const outcomes = outcomeColumns(plan);
  return hierarchiesOf(target).map((hierarchy) => {
    const { columns, target_columns } = hierarchy;
    const all = [...new Set([...target_columns, ...columns])].map((lineage_id) => ({
      name: columnName({ lineage_id }),
      written: `m.${outcomes.get(lineage_id)}`,
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

// Counts for a foreign key on the target branch after the merge: written rows that refer to no row,
// and unchanged rows whose referenced row would be deleted.
function referenceChecks(
  from: DeployedTable,
  foreignKey: ForeignKey,
  branch: DeployedTable[],
  plans: ReadonlyMap<number, MergePlan>,
): RuleCheck[] {
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
  return [...writtenChecks(), ...leftChecks()];

  function writtenChecks(): RuleCheck[] {
    if (!child) return [];
    const outcomes = outcomeColumns(child);
    const outcome = (column: Column) => `m.${outcomes.get(column.lineage_id)}`;
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

  function leftChecks(): RuleCheck[] {
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
