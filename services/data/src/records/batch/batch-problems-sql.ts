// The problems of a batch: queried when it was refused, or besides other problems, so that one
// answer names every problem. Pure. The database itself enforces the rules.

import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import { recordSql } from '../../rows/record-sql.ts';
import { columnName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import { currentSql } from '../../tables/catalogue.ts';
import { type DeployedTable, type ForeignKey, getColumn, keyColumns } from '../../tables/table.ts';
import { typeOf } from '../../values/value-types.ts';
import { foreignKeyProblem, keyProblem, notUnique, type Referrer } from '../constraint-sql.ts';
import type { Batch, RowChange } from './batch-input.ts';
import { Relation } from './batch-sql.ts';

/** `other`: another operation, or a number of rows. */
export type Found = { place: number; question: number; other: number };

export type Question = {
  kind: 'absent' | 'outdated' | 'taken' | 'broken';
  /** Selects `place` and `other` of the operations with the problem. */
  sql: string;
  problem: (change: RowChange, other: number) => Problem;
};

/**
 * One row `Found` for each problem, by the operations. `referring`: the foreign keys that refer to
 * the table.
 */
export function batchProblemsSql(
  table: DeployedTable,
  batch: Batch,
  referring: Referrer[],
): { statement: Statement; questions: Question[] } {
  const key = keyColumns(table.structure).map((column) => column.lineage_id);
  const questions = [
    ...presence,
    ...keyQuestions(table, key),
    ...table.structure.foreign_keys.map((foreignKey) => targetQuestion(table, key, foreignKey)),
    ...referring.map((referrer) => referrersQuestion(table, key, referrer)),
  ];
  const lineages = [...new Set([key, ...table.structure.foreign_keys.map(({ columns }) => columns)].flat())];
  const relation = relationOf(table, batch, lineages);
  const values = new Values();
  const found = questions.map(({ sql }, i) => `select place, ${i} as question, other from (${sql}) q`);
  const columns = [
    'a.*, own.svc_version, coalesce(own.svc_is_deleted, true) as was_deleted',
    ...lineages.flatMap((lineage) => [`own.${name(lineage)} as ${before(lineage)}`, afterSql(lineage)]),
  ];
  const text =
    `with op as materialized (select ${columns.join(', ')} from ${relation.sql(values, 'a')} left join ${tableName(table)} own on own.svc_sk = a.id)` +
    ` select place, question, other::int as other from (${found.join(' union all ')}) found order by place, question`;
  return { statement: { text, values: relation.items }, questions };
}

/**
 * The records of these rows as they are now: as many as an answer holds, null for the others; none
 * when the table has changed.
 */
export function presentRecordsSql(table: DeployedTable, ids: number[]): Statement {
  const { bind, list } = new Values();
  const rows =
    `select t.svc_sk, ${recordSql(table, bind)} as record from ${tableName(table)} t` +
    ` where t.svc_sk = any(${bind(ids, 'bigint[]')}) and ${currentSql(table, bind)} offset 0`;
  const bytes = 'sum(octet_length(record)) over (order by svc_sk rows unbounded preceding)';
  return {
    text: `select svc_sk as id, case when ${bytes} <= ${limits.answerBytes} then record end as record from (${rows}) present`,
    values: list,
  };
}

const name = (lineage_id: number) => columnName({ lineage_id });
/**
 * The old value of the row, the given one, the new one; and whether one is given: 0 no, 1 yes, 2
 * one that breaks a rule.
 */
const before = (lineage: number) => `old_${name(lineage)}`;
const given = (lineage: number) => `given_${name(lineage)}`;
const after = (lineage: number) => `new_${name(lineage)}`;
const state = (lineage: number) => `state_${name(lineage)}`;

const afterSql = (lineage: number) =>
  `case a.${state(lineage)} when 0 then own.${name(lineage)} when 1 then a.${given(lineage)} end as ${after(lineage)}`;

function relationOf(table: DeployedTable, { created, updated, deleted }: Batch, lineages: number[]): Relation {
  const all = [...created, ...updated, ...deleted];
  const relation = new Relation()
    .with(
      'place',
      'int',
      all.map(({ place }) => place),
    )
    .with(
      'id',
      'bigint',
      all.map(({ id }) => id),
    )
    .with(
      'version',
      'int',
      all.map(({ version }) => version),
    )
    .with(
      'is_deleted',
      'boolean',
      all.map((_, i) => i >= created.length + updated.length),
    );
  for (const lineage of lineages) {
    const column = getColumn(table.structure, lineage);
    const stateOf = ({ cells, broken }: RowChange) => (broken.has(column) ? 2 : cells.has(column) ? 1 : 0);
    relation
      .with(
        given(lineage),
        typeOf(column).base,
        all.map(({ cells }) => cells.get(column) ?? null),
      )
      .with(state(lineage), 'int', all.map(stateOf));
  }
  return relation;
}

const absent = '(id is not null and (svc_version is null or (was_deleted and not is_deleted)))';

const presence: Question[] = [
  {
    kind: 'absent',
    sql: `select place, 0 as other from op where ${absent}`,
    problem: ({ id }) => ({ code: 'not_found', message: `record ${id} not found` }),
  },
  {
    kind: 'outdated',
    sql: `select place, svc_version as other from op where version <> svc_version and not ${absent}`,
    problem: ({ id, version }, other) => ({
      code: 'version_conflict',
      message: `record ${id} has been changed since it was read: it has version ${other}, not ${version}`,
      params: { version: other },
    }),
  },
];

const isGiven = (op: string, lineages: number[]) =>
  `(${lineages.map((each) => `${op}.${state(each)} <> 0`).join(' or ')})`;
const isKnown = (op: string, lineages: number[]) => lineages.map((each) => `${op}.${state(each)} <> 2`).join(' and ');

/** Operations that give their row a key. */
const takesKey = (op: string, key: number[]) => `not ${op}.is_deleted and ${isGiven(op, key)} and ${isKnown(op, key)}`;

/** Operations that free the key of their row, or may. */
const freesKey = (op: string, key: number[]) => `(${op}.is_deleted or ${isGiven(op, key)})`;

const equal = (pairs: [string, string][]) => pairs.map(([left, right]) => `${left} = ${right}`).join(' and ');

function keyQuestions(table: DeployedTable, key: number[]): Question[] {
  if (key.length === 0) return [];
  const same = equal(key.map((lineage) => [`o.${name(lineage)}`, `n.${after(lineage)}`]));
  const values = key.map(after).join(', ');
  const handed = equal(key.map((lineage) => [`x.${before(lineage)}`, `n.${after(lineage)}`]));
  const moved = key.map((lineage) => `x.${after(lineage)} is distinct from x.${before(lineage)}`).join(' or ');
  return [
    {
      kind: 'taken',
      sql:
        `select place, 0 as other from op n where ${takesKey('n', key)} and exists (select from ${tableName(table)} o where o.svc_live and ${same}` +
        ` and not exists (select from op x where x.id = o.svc_sk and ${freesKey('x', key)}))`,
      problem: () => keyProblem(table),
    },
    {
      kind: 'broken',
      sql:
        `select place, first as other from (select place, min(place) over (partition by ${values}) as first from op n` +
        ` where ${takesKey('n', key)}) alike where place <> first`,
      problem: (_, other) => notUnique(table, `operation ${other} gives the same value`, { operation: other }),
    },
    {
      kind: 'broken',
      sql:
        `select n.place, x.place as other from op n join op x on x.place <> n.place where n.id is not null and ${takesKey('n', key)}` +
        ` and x.id is not null and not x.is_deleted and ${isGiven('x', key)} and ${handed} and (${moved})`,
      problem: (_, other) =>
        notUnique(
          table,
          `operation ${other} gives this value up, but no value can go from record to record in a batch`,
          { operation: other },
        ),
    },
  ];
}

function targetQuestion(table: DeployedTable, key: number[], foreignKey: ForeignKey): Question {
  const { columns, target_columns, target_lineage_id } = foreignKey;
  const target = tableName({ branch_id: table.branch_id, lineage_id: target_lineage_id });
  const isSelf = target_lineage_id === table.lineage_id;
  const match = equal(target_columns.map((lineage, i) => [`r.${name(lineage)}`, `n.${after(columns[i] as number)}`]));
  const stays = isSelf ? ` and not exists (select from op x where x.id = r.svc_sk and ${freesKey('x', key)})` : '';
  const own = equal(target_columns.map((lineage, i) => [`m.${after(lineage)}`, `n.${after(columns[i] as number)}`]));
  const comes = isSelf ? ` and not exists (select from op m where ${takesKey('m', key)} and ${own})` : '';
  const filled = columns.map((lineage) => `n.${after(lineage)} is not null`).join(' and ');
  return {
    kind: 'broken',
    sql:
      `select place, 0 as other from op n where not n.is_deleted and ${isGiven('n', columns)} and ${isKnown('n', columns)} and ${filled}` +
      ` and not exists (select from ${target} r where r.svc_live and ${match}${stays})${comes}`,
    problem: () => foreignKeyProblem(table, foreignKey),
  };
}

// Another row of the batch may take the key over, so that references to it stay valid.
function referrersQuestion(table: DeployedTable, key: number[], { from, foreignKey }: Referrer): Question {
  const { columns, target_columns } = foreignKey;
  const match = equal(columns.map((lineage, i) => [`s.${name(lineage)}`, `x.${before(target_columns[i] as number)}`]));
  // Rows of the batch that refer to another row afterwards, or to none, are subtracted: hundreds of
  // thousands may refer to a row. (OFFSET 0: counted once, not at each mention.)
  const left = equal(columns.map((lineage, i) => [`y.${before(lineage)}`, `x.${before(target_columns[i] as number)}`]));
  const leaving =
    from.lineage_id === table.lineage_id
      ? ` - (select count(*) from op y where not y.was_deleted and (y.is_deleted or ${isGiven('y', columns)}) and ${left})`
      : '';
  const moved = key.map((lineage) => `x.${after(lineage)} is distinct from x.${before(lineage)}`).join(' or ');
  const successor = equal(key.map((lineage) => [`m.${after(lineage)}`, `x.${before(lineage)}`]));
  return {
    kind: 'broken',
    sql:
      `select x.place, c.rows as other from op x, lateral (select (select count(*) from ${tableName(from)} s where s.svc_live and ${match})${leaving} as rows offset 0) c` +
      ` where c.rows > 0 and not x.was_deleted and (x.is_deleted or (${isGiven('x', key)} and ${isKnown('x', key)} and (${moved})))` +
      ` and not exists (select from op m where ${takesKey('m', key)} and ${successor})`,
    problem: ({ id }, other) => ({
      code: 'still_referenced',
      message: `record ${id} is still referred to by ${other} ${other === 1 ? 'record' : 'records'} of ${from.name}`,
      params: { table: from.name, table_definition_id: from.table_definition_id, count: other },
    }),
  };
}
