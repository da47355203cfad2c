// The statement that writes a batch of rows: deletions, then changes, then new rows, each kind in
// one go whatever the order of the operations. References are checked when all of it is done. Pure.

import { withinAnswerSql } from '../../rows/answer-size.ts';
import { channelSql, type Origin } from '../../rows/origin.ts';
import { recordSql } from '../../rows/record-sql.ts';
import { columnName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Template, templateOf, Values } from '../../sql/statement.ts';
import { currentSql } from '../../tables/catalogue.ts';
import { type Column, type DeployedTable, keyColumns } from '../../tables/table.ts';
import { typeOf } from '../../values/value-types.ts';
import type { Cells } from '../record-input.ts';
import { differsSql, hasKeySql, keyCell, monotonicSql, newCell, nowSql, setsSql } from '../write-sql.ts';
import type { Batch, RowChange, Upserts } from './batch-input.ts';

/**
 * The result of a batch; records as JSON, separated by commas, in the order of the operations.
 * Records that had the values already are among `updated`, but not counted.
 */
export type Done = {
  created: string;
  created_count: number;
  updated: string;
  updated_count: number;
  deleted_count: number;
};

/** Operations as a relation: one row for each, one column for each array. */
export class Relation {
  private readonly columns: { name: string; type: string; items: unknown[] }[] = [];

  with(name: string, type: string, items: unknown[]): this {
    this.columns.push({ name, type, items });
    return this;
  }

  /** The relation as part of a template, called `alias`; its slots take `items`. */
  sql(values: Values, alias: string): string {
    const arrays = this.columns.map(({ type }) => values.slot(`${type}[]`));
    return `unnest(${arrays.join(', ')}) as ${alias}(${this.columns.map(({ name }) => name).join(', ')})`;
  }

  get items(): unknown[][] {
    return this.columns.map(({ items }) => items);
  }
}

/** A column that changes; `always`: every change gives it a value. */
type ChangedColumn = { column: Column; always: boolean };

/** Whether an operation gives the column a value. */
const given = (column: Column) => `has_${columnName(column)}`;

const addCells = (relation: Relation, rows: RowChange[], column: Column) =>
  relation.with(
    newCell(column),
    typeOf(column).base,
    rows.map(({ cells }) => cells.get(column) ?? null),
  );

const addKey = (relation: Relation, keys: (Cells | undefined)[], column: Column) =>
  relation.with(
    keyCell(column),
    typeOf(column).base,
    keys.map((key) => key?.get(column) ?? null),
  );

/** Finds the rows of upserts by the keys that could be read: one row `KeyedRow` for each. */
export function keyedRowsSql(table: DeployedTable, upserts: Upserts): Statement {
  const readable = [...upserts].filter(([, { key }]) => key !== undefined);
  const key = keyColumns(table.structure);
  const relation = new Relation().with(
    'place',
    'int',
    readable.map(([place]) => place),
  );
  const keys = readable.map(([, upsert]) => upsert.key);
  for (const column of key) addKey(relation, keys, column);
  const template = templateOf(table, 'rows by key', () => {
    const values = new Values();
    const given = relation.sql(values, 'a');
    const text =
      `select a.place, min(a.place) over (partition by ${key.map((column) => `a.${keyCell(column)}`).join(', ')}) as first, t.svc_sk as id` +
      ` from ${given} left join ${tableName(table)} t on ${hasKeySql(key, 't', 'a')}`;
    return new Template(text, values, values.list.length);
  });
  return template.fill(relation.items);
}

/**
 * Returns one row; none when a record to change is absent or has another version or key, or the
 * table has changed.
 */
export function batchSql(table: DeployedTable, batch: Batch, { actor, channel, requestId }: Origin): Statement {
  const { created, updated, deleted } = batch;
  const changed = table.structure.columns
    .map((column) => ({ column, count: updated.filter(({ cells }) => cells.has(column)).length }))
    .filter(({ count }) => count > 0)
    .map(({ column, count }): ChangedColumn => ({ column, always: count === updated.length }));
  const named = [...updated, ...deleted];
  const relations = {
    deletions: identify(new Relation(), deleted),
    changes: identify(new Relation(), updated),
    additions: new Relation().with('place', 'int', places(created)),
  };
  for (const { column, always } of changed) {
    addCells(relations.changes, updated, column);
    if (!always)
      relations.changes.with(
        given(column),
        'boolean',
        updated.map(({ cells }) => cells.has(column)),
      );
  }
  for (const column of table.structure.columns) addCells(relations.additions, created, column);
  const key = keyColumns(table.structure);
  const hasUpserts = updated.some((change) => change.key !== undefined);
  if (hasUpserts) {
    relations.changes.with(
      'is_upsert',
      'boolean',
      updated.map((change) => change.key !== undefined),
    );
    const keys = updated.map((change) => change.key);
    for (const column of key) addKey(relations.changes, keys, column);
  }
  // Other transactions may refer to a row while it changes, unless its key changes.
  const lock = deleted.length > 0 || changed.some(({ column }) => column.is_primary_key) ? 'update' : 'no key update';
  const shape = `batch ${channel} ${lock} ${hasUpserts ? 'upserts ' : ''}${changed.map(({ column, always }) => `${column.lineage_id}${always ? '' : '?'}`)}`;
  const template = templateOf(table, shape, () => {
    const values = new Values();
    const origin = { actor: values.slot('text'), request: values.slot('text'), channel: channelSql(channel) };
    const ids = values.slot('bigint[]');
    const deletions = relations.deletions.sql(values, 'a');
    const changes = relations.changes.sql(values, 'a');
    const additions = relations.additions.sql(values, 'a');
    const slots = values.list.length;
    const text = writeSql(table, { changed, hasUpserts, lock, origin, ids, deletions, changes, additions }, values);
    return new Template(text, values, slots);
  });
  const items = Object.values(relations).flatMap((relation) => relation.items);
  return template.fill([actor, requestId, named.map(({ id }) => id), ...items]);
}

const places = (rows: RowChange[]) => rows.map(({ place }) => place);

const identify = (relation: Relation, rows: RowChange[]) =>
  relation
    .with('place', 'int', places(rows))
    .with(
      'id',
      'bigint',
      rows.map(({ id }) => id),
    )
    .with(
      'version',
      'int',
      rows.map(({ version }) => version),
    );

type Parts = {
  changed: ChangedColumn[];
  hasUpserts: boolean;
  lock: string;
  origin: { actor: string; request: string; channel: string };
  ids: string;
  deletions: string;
  changes: string;
  additions: string;
};

// Rows are locked in one order, so that two batches never deadlock; then the clock is read once for
// all. PostgreSQL runs the parts of a statement in the order in which they are read: so each kind
// reads a clock that has read all of the kind before. It locks tables in that order too. The first
// part writes nothing, but takes the writer's lock before rows are read: a reader's lock that is
// raised later would deadlock with a deployment that waits for readers.
function writeSql(table: DeployedTable, parts: Parts, { bind }: Values): string {
  const { changed, hasUpserts, lock, origin, ids, deletions, changes, additions } = parts;
  const name = tableName(table);
  const record = recordSql(table, bind);
  const current = currentSql(table, bind);
  const key = keyColumns(table.structure);
  const newVersion: [string, string][] = [
    ['svc_updated_at', monotonicSql('t.')],
    ['svc_version', 't.svc_version + 1'],
    ['svc_updated_by', origin.actor],
    ['svc_request_id', origin.request],
    ['svc_channel', origin.channel],
  ];
  const cells = new Map(changed.map((each) => [each.column, newValue(each, 'a', 't')]));
  const columns = [...cells.keys()];
  const newCells = columns.map((column): [string, string] => [columnName(column), cells.get(column) as string]);
  const differs = differsSql(columns, 't', (column) => cells.get(column) as string);
  const absent = `f.svc_sk is null or a.version <> f.svc_version`;
  const refused = [
    `select 1 from changes a left join found f on f.svc_sk = a.id where ${absent} or f.svc_is_deleted`,
    `select 1 from deletions a left join found f on f.svc_sk = a.id where ${absent}`,
    ...handedKeySql(changed, key),
    ...(hasUpserts ? [lostKeySql(key)] : []),
  ];
  const inserted: [string, string][] = [
    ['svc_created_at', 'clock.at'],
    ['svc_updated_at', 'clock.at'],
    ['svc_updated_by', origin.actor],
    ['svc_request_id', origin.request],
    ['svc_channel', origin.channel],
    ...table.structure.columns.map((column): [string, string] => [columnName(column), `a.${newCell(column)}`]),
  ];
  const keys = ['svc_sk', 'svc_version', 'svc_is_deleted', ...key.map(columnName)].map((column) => `t.${column}`);
  return (
    `with intent as (insert into ${name} (svc_created_at) select null where false), deletions as materialized (select * from ${deletions}), changes as materialized (select * from ${changes}),` +
    ` found as materialized (select ${keys.join(', ')}, ${differs} as differs from ${name} t left join changes a on a.id = t.svc_sk` +
    ` where t.svc_sk = any(${ids}) order by t.svc_sk for ${lock} of t),` +
    ` refused as materialized (${refused.join(' union all ')}),` +
    ` clock as materialized (select ${nowSql} as at from (select count(*) from found) locked where ${current} and not exists (select from refused)),` +
    ` deleted as (update ${name} t set svc_is_deleted = true, ${newVersion.map(([column, set]) => `${column} = ${set}`).join(', ')} from clock, deletions a` +
    ` where t.svc_sk = a.id and not t.svc_is_deleted returning 1),` +
    ` second as materialized (select at from clock, (select count(*) from deleted) done),` +
    ` changed as (update ${name} t set ${setsSql('a.differs', [...newCells, ...newVersion])} from second clock,` +
    ` (select a.*, f.differs from changes a join found f on f.svc_sk = a.id) a where t.svc_sk = a.id returning a.place, a.differs, ${record} as record),` +
    ` third as materialized (select at from second, (select count(*) from changed) done),` +
    ` created as (insert into ${name} (${inserted.map(([column]) => column).join(', ')})` +
    ` select ${inserted.map(([, source]) => source).join(', ')} from third clock, ${additions} order by a.place returning svc_sk, ${record} as record)` +
    ` select ${withinAnswerSql('c.records', 'octet_length(c.records) + octet_length(u.records)')} as created, c.count as created_count, u.records as updated, u.count as updated_count, (select count(*) from deleted) as deleted_count` +
    ` from (select count(*), coalesce(string_agg(record, ',' order by svc_sk), '') as records from created) c,` +
    ` (select count(*) filter (where differs), coalesce(string_agg(record, ',' order by place), '') as records from changed) u where exists (select from clock)`
  );
}

const newValue = ({ column, always }: ChangedColumn, from: string, old: string) => {
  const own = `${from}.${newCell(column)}`;
  return always ? own : `case when ${from}.${given(column)} then ${own} else ${old}.${columnName(column)} end`;
};

// The row of an upsert may have got another key since it was found.
function lostKeySql(key: Column[]): string {
  const cells = (row: string, name: (column: Column) => string) =>
    key.map((column) => `${row}.${name(column)}`).join(', ');
  return (
    `select 1 from changes a join found f on f.svc_sk = a.id` +
    ` where a.is_upsert and (${cells('f', columnName)}) is distinct from (${cells('a', keyCell)})`
  );
}

// PostgreSQL checks unique keys row by row: whether a key can move from one record to another would
// depend on which changes first.
function handedKeySql(changed: ChangedColumn[], key: Column[]): string[] {
  const moving = changed.filter(({ column }) => column.is_primary_key);
  if (moving.length === 0) return [];
  const later = (column: Column, from: string, old: string) => {
    const change = moving.find((each) => each.column === column);
    return change ? newValue(change, from, old) : `${old}.${columnName(column)}`;
  };
  const taken = key.map((column) => `${later(column, 'a', 'f')} = g.${columnName(column)}`).join(' and ');
  const left = key.map((column) => `${later(column, 'b', 'g')} is distinct from g.${columnName(column)}`).join(' or ');
  return [
    `select 1 from changes a join found f on f.svc_sk = a.id join changes b on b.id <> a.id join found g on g.svc_sk = b.id` +
      ` where ${taken} and (${left})`,
  ];
}
