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

/** A rule of operations. */
export type Rule = {
  /** Selects `place` and `other` of the operations with the problem. */
  sql: string;
  problem: (operation: { id: string | null; version?: number | null }, other: number) => Problem;
};
export type Question = Rule & { kind: 'absent' | 'outdated' | 'taken' | 'broken' };

/**
 * One row `Found` for each problem, by the operations. `referring`: the foreign keys that refer to
 * the table.
 */
export function batchProblemsSql(
  table: DeployedTable,
  batch: Batch,
  referring: Referrer[],
): { statement: Statement; questions: Question[] } {
  const questions = questionsOf(table, referring);
  const relation = relationOf(table, batch, checkedLineages(table));
  const values = new Values();
  const given = `(select *, false as is_restored from ${relation.sql(values, 'r')}) a`;
  const text =
    `with ${operationsSql(ownOperations, table, checkedLineages(table), given)}` +
    ` ${foundSql(questions)} order by place, question`;
  return { statement: { text, values: relation.items }, questions };
}

/** The columns of the key and of the references of a table: those that its questions are about. */
export function checkedLineages({ structure }: Pick<DeployedTable, 'structure'>): number[] {
  const key = keyColumns(structure).map((column) => column.lineage_id);
  return [...new Set([key, ...structure.foreign_keys.map(({ columns }) => columns)].flat())];
}

/** The name of the relation of the operations that are checked. */
export const ownOperations = 'op';

/**
 * The names of relations of further operations that take place at the same time, by the lineage of
 * their table: on rows that refer to the table, or that it refers to.
 */
export type Beside = ReadonlyMap<number, string>;

/** The questions about the operations of a table. */
export function questionsOf(table: DeployedTable, referring: Referrer[], beside: Beside = new Map()): Question[] {
  const key = keyColumns(table.structure).map((column) => column.lineage_id);
  const operations = new Map([...beside, [table.lineage_id, ownOperations]]);
  return [
    ...presence,
    ...keyQuestions(table, key),
    ...table.structure.foreign_keys.map((foreignKey) => targetQuestion(table, foreignKey, operations)),
    ...referring.map((referrer) => referrersQuestion(key, referrer, operations)),
  ];
}

/**
 * A relation of operations as a common table expression. `from`: the relation `a` with `place`,
 * `id`, `version`, `is_deleted`, `is_restored` and, for each lineage, `givenCell` and `cellState`.
 */
export function operationsSql(alias: string, table: DeployedTable, lineages: number[], from: string): string {
  const columns = [
    'a.*, own.svc_version, coalesce(own.svc_is_deleted, true) as was_deleted',
    ...lineages.flatMap((lineage) => [`own.${name(lineage)} as ${cellBefore(lineage)}`, afterSql(lineage)]),
  ];
  return `${alias} as materialized (select ${columns.join(', ')} from ${from} left join ${tableName(table)} own on own.svc_sk = a.id)`;
}

/** Selects `place`, `question` and `other` of each problem. */
export function foundSql(questions: readonly Pick<Rule, 'sql'>[]): string {
  const found = questions.map(({ sql }, i) => `select place, ${i} as question, other from (${sql}) q`);
  return `select place, question, other::bigint as other from (${found.join(' union all ')}) found`;
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
export const cellBefore = (lineage: number): string => `old_${name(lineage)}`;
export const givenCell = (lineage: number): string => `given_${name(lineage)}`;
export const cellAfter = (lineage: number): string => `new_${name(lineage)}`;
export const cellState = (lineage: number): string => `state_${name(lineage)}`;

// A row that is restored has its own values again; they count as given.
const afterSql = (lineage: number) =>
  `case when a.is_restored or a.${cellState(lineage)} = 0 then own.${name(lineage)} when a.${cellState(lineage)} = 1 then a.${givenCell(lineage)} end as ${cellAfter(lineage)}`;

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
        givenCell(lineage),
        typeOf(column).base,
        all.map(({ cells }) => cells.get(column) ?? null),
      )
      .with(cellState(lineage), 'int', all.map(stateOf));
  }
  return relation;
}

const absent = '(id is not null and (svc_version is null or (was_deleted and not is_deleted and not is_restored)))';

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
  `(${lineages.map((each) => `${op}.${cellState(each)} <> 0`).join(' or ')})`;
const isKnown = (op: string, lineages: number[]) =>
  lineages.map((each) => `${op}.${cellState(each)} <> 2`).join(' and ');

/** Operations that give their row a key. */
const takesKey = (op: string, key: number[]) => `not ${op}.is_deleted and ${isGiven(op, key)} and ${isKnown(op, key)}`;

/** Operations that free the key of their row, or may. */
const freesKey = (op: string, key: number[]) => `(${op}.is_deleted or ${isGiven(op, key)})`;

const equal = (pairs: [string, string][]) => pairs.map(([left, right]) => `${left} = ${right}`).join(' and ');

function keyQuestions(table: DeployedTable, key: number[]): Question[] {
  if (key.length === 0) return [];
  const same = equal(key.map((lineage) => [`o.${name(lineage)}`, `n.${cellAfter(lineage)}`]));
  const values = key.map(cellAfter).join(', ');
  const handed = equal(key.map((lineage) => [`x.${cellBefore(lineage)}`, `n.${cellAfter(lineage)}`]));
  const moved = key.map((lineage) => `x.${cellAfter(lineage)} is distinct from x.${cellBefore(lineage)}`).join(' or ');
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

// `target_columns` are the whole key of the target.
function targetQuestion(table: DeployedTable, foreignKey: ForeignKey, operations: Beside): Question {
  const { columns, target_columns: key, target_lineage_id } = foreignKey;
  const target = tableName({ branch_id: table.branch_id, lineage_id: target_lineage_id });
  const there = operations.get(target_lineage_id);
  const match = equal(key.map((lineage, i) => [`r.${name(lineage)}`, `n.${cellAfter(columns[i] as number)}`]));
  const stays = there ? ` and not exists (select from ${there} x where x.id = r.svc_sk and ${freesKey('x', key)})` : '';
  const own = equal(key.map((lineage, i) => [`m.${cellAfter(lineage)}`, `n.${cellAfter(columns[i] as number)}`]));
  const comes = there ? ` and not exists (select from ${there} m where ${takesKey('m', key)} and ${own})` : '';
  const filled = columns.map((lineage) => `n.${cellAfter(lineage)} is not null`).join(' and ');
  return {
    kind: 'broken',
    sql:
      `select place, 0 as other from op n where not n.is_deleted and ${isGiven('n', columns)} and ${isKnown('n', columns)} and ${filled}` +
      ` and not exists (select from ${target} r where r.svc_live and ${match}${stays})${comes}`,
    problem: () => foreignKeyProblem(table, foreignKey),
  };
}

// Another row of the batch may take the key over, so that references to it stay valid.
function referrersQuestion(key: number[], { from, foreignKey }: Referrer, operations: Beside): Question {
  const there = operations.get(from.lineage_id);
  const { columns, target_columns } = foreignKey;
  const match = equal(
    columns.map((lineage, i) => [`s.${name(lineage)}`, `x.${cellBefore(target_columns[i] as number)}`]),
  );
  // Rows of the batch that refer to another row afterwards, or to none, are subtracted: hundreds of
  // thousands may refer to a row. (OFFSET 0: counted once, not at each mention.)
  const referred = columns.map((lineage) => `y.${cellBefore(lineage)}`);
  const leaving =
    there &&
    `(select ${referred.join(', ')}, count(*) as rows from ${there} y` +
      ` where not y.was_deleted and (y.is_deleted or ${isGiven('y', columns)}) group by ${referred.join(', ')})`;
  const left = equal(
    columns.map((lineage, i) => [`l.${cellBefore(lineage)}`, `x.${cellBefore(target_columns[i] as number)}`]),
  );
  const staying = leaving ? 'c.rows - coalesce(l.rows, 0)' : 'c.rows';
  const moved = key.map((lineage) => `x.${cellAfter(lineage)} is distinct from x.${cellBefore(lineage)}`).join(' or ');
  const successor = equal(key.map((lineage) => [`m.${cellAfter(lineage)}`, `x.${cellBefore(lineage)}`]));
  return {
    kind: 'broken',
    sql:
      `select x.place, ${staying} as other from op x${leaving ? ` left join ${leaving} l on ${left}` : ''},` +
      ` lateral (select (select count(*) from ${tableName(from)} s where s.svc_live and ${match}) as rows offset 0) c` +
      ` where ${staying} > 0 and not x.was_deleted and (x.is_deleted or (${isGiven('x', key)} and ${isKnown('x', key)} and (${moved})))` +
      ` and not exists (select from op m where ${takesKey('m', key)} and ${successor})`,
    problem: ({ id }, other) => ({
      code: 'still_referenced',
      message: `record ${id} is still referred to by ${other} ${other === 1 ? 'record' : 'records'} of ${from.name}`,
      params: { table: from.name, table_definition_id: from.table_definition_id, count: other },
    }),
  };
}
