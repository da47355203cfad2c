// The statements that write single rows. Pure. Each states the revision it was made for and returns
// the written rows; a trigger moves the superseded versions to the history
// (`deployments/schema/history-ddl.ts`).

import { boundedRecordSql, mayOverflow } from '../rows/answer-size.ts';
import { answerableSql, rowsSql } from '../rows/as-of-sql.ts';
import { type Channel, channelSql, type Origin } from '../rows/origin.ts';
import { type Reading, readableSql, relationOf } from '../rows/reading.ts';
import { oneRecordSql, startWithRecord } from '../rows/record-sql.ts';
import { columnName, tableName } from '../sql/identifiers.ts';
import {
  anyHiddenFromPlanner,
  hiddenFromPlanner,
  type Statement,
  Template,
  templateOf,
  Values,
} from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import { type Column, type DeployedTable, keyColumns } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';
import type { Cells } from './record-input.ts';

/**
 * The time of a write, in milliseconds as answers show it, so that a time from an answer finds the
 * version. Read inside the statement, when the transaction is open: high-water marks rely on it
 * (`postgres/high-water-mark.ts`).
 */
export const nowSql = "date_trunc('milliseconds', clock_timestamp())";
const clockSql = `(select ${nowSql} as at) clock`;

/**
 * A version never begins before the one it supersedes, though its writer may have waited for that
 * one, or the clock been set back.
 */
export const monotonicSql = (row: string) => `greatest(clock.at, ${row}svc_updated_at)`;

/**
 * Sets the columns of a row `t` whose values differ. A row that doesn't differ keeps its values and
 * its version; PostgreSQL writes and returns it too, so that one statement compares and answers.
 */
export const setsSql = (differs: string, sets: readonly [column: string, value: string][]): string =>
  sets.map(([column, value]) => `${column} = case when ${differs} then ${value} else t.${column} end`).join(', ');

/** Whether a row has other values in these columns, compared as imports do. */
export const differsSql = (columns: readonly Column[], row: string, given: (column: Column) => string): string =>
  columns.length === 0
    ? 'false'
    : `(${columns.map((column) => `${row}.${columnName(column)}`).join(', ')}) is distinct from (${columns.map(given).join(', ')})`;

/** A new row: the text forms of its cells, and its origin. */
export type NewRow = { cells: Cells; origin: Origin };

/**
 * Inserts rows of one channel; returns `svc_sk`, `record` and `svc_version` of each in their order,
 * or no row when the table has changed.
 */
export function insertSql(table: DeployedTable, rows: readonly NewRow[], channel: Channel): Statement {
  const { columns } = table.structure;
  const template = templateOf(table, `insert ${channel}`, () => {
    const values = new Values();
    const given = ['text', 'text', ...columns.map((column) => typeOf(column).base)].map((type) =>
      hiddenFromPlanner(values.slot(`${type}[]`)),
    );
    const sets: [string, string][] = [
      ['svc_created_at', 'at'],
      ['svc_updated_at', 'at'],
      ['svc_channel', channelSql(channel)],
      ...['svc_updated_by', 'svc_request_id', ...columns.map(columnName)].map((name): [string, string] => [name, name]),
    ];
    const names = sets.slice(3).map(([name]) => name);
    const text =
      `insert into ${tableName(table)} (${sets.map(([name]) => name).join(', ')}) select ${sets.map(([, source]) => source).join(', ')}` +
      ` from ${clockSql}, unnest(${given.join(', ')}) with ordinality as given(${names.join(', ')}, place)` +
      ` where ${currentSql(table, values.bind)} order by place returning svc_sk, ${oneRecordSql(table, values.bind)} as record, svc_version`;
    return new Template(text, values, given.length);
  });
  return template.fill([
    rows.map(({ origin }) => origin.actor),
    rows.map(({ origin }) => origin.requestId),
    ...columns.map((column) => rows.map(({ cells }) => cells.get(column) ?? null)),
  ]);
}

/**
 * A change of a row: the text forms of the cells that change, and the origin. `versions`: only
 * while the row has one of these.
 */
export type RowUpdate = { id: string; cells: Cells; origin: Origin; versions: number[] | undefined };

/** The same of the row with this primary key. The cells are of other columns. */
export type KeyedUpdate = Omit<RowUpdate, 'id'> & { key: Cells };

/** The name of a column's new value in an update. */
export const newCell = (column: Column): string => `new_${columnName(column)}`;

/** The name of a column of the primary key by which a row is found. */
export const keyCell = (column: Column): string => `key_${columnName(column)}`;

/** Whether a row is live and has the primary key of `given`. */
export const hasKeySql = (key: readonly Column[], row: string, given: string): string =>
  [`${row}.svc_live`, ...key.map((column) => `${row}.${columnName(column)} = ${given}.${keyCell(column)}`)].join(
    ' and ',
  );

/** Equal for updates of the same columns, which share a statement. */
export const shapeOf = ({ cells }: RowUpdate | KeyedUpdate): string =>
  [...cells.keys()].map((column) => column.lineage_id).join();

/**
 * Changes live rows, each once and all in one shape; with the channel `revert` deleted rows too,
 * which are live afterwards. Returns `svc_sk`, `record` and `svc_version` of each row, also of one
 * that has the values already and stays as it is. Not of a row that is absent, has another version,
 * or is locked by another transaction, unless the statement `waits`; of none when the table has
 * changed.
 */
export function updateSql(
  table: DeployedTable,
  updates: readonly [RowUpdate, ...RowUpdate[]] | readonly [KeyedUpdate],
  channel: Channel,
  waits = true,
): Statement {
  const [first] = updates;
  const columns = [...first.cells.keys()];
  const key = 'key' in first ? [...first.key.keys()] : undefined;
  const template = templateOf(table, `update ${channel} ${waits} ${key ? 'keyed ' : ''}${shapeOf(first)}`, () => {
    const values = new Values();
    const named: [name: string, type: string][] = key
      ? key.map((column) => [keyCell(column), typeOf(column).base])
      : [['id', 'bigint']];
    const others: [name: string, type: string][] = [
      ['versions', 'text'],
      ['actor', 'text'],
      ['request', 'text'],
      ...columns.map((column): [string, string] => [newCell(column), typeOf(column).base]),
    ];
    const given = [...named, ...others].map(([, type]) => hiddenFromPlanner(values.slot(`${type}[]`)));
    const names = [...named, ...others].map(([name]) => name);
    const isNamed = key ? hasKeySql(key, 'r', 'given') : 'r.svc_sk = given.id';
    const reverts = channel === 'revert';
    const sets = setsSql('u.differs', [
      ['svc_updated_by', 'u.actor'],
      ['svc_request_id', 'u.request'],
      ...columns.map((column): [string, string] => [columnName(column), `u.${newCell(column)}`]),
      ['svc_channel', channelSql(channel)],
      ['svc_updated_at', monotonicSql('t.')],
      ['svc_version', 't.svc_version + 1'],
      ...(reverts ? [['svc_is_deleted', 'false'] as [string, string]] : []),
    ]);
    // Compared with the locked row.
    const differs = `${reverts ? 'r.svc_is_deleted or ' : ''}${differsSql(columns, 'r', (column) => `given.${newCell(column)}`)}`;
    // Locked in one order, so that two such statements never deadlock.
    const locked =
      `select r.svc_sk as sk, given.*, ${differs} as differs from unnest(${given.join(', ')}) given(${names.join(', ')}) join ${tableName(table)} r on ${isNamed}` +
      ` where ${reverts ? '' : 'not r.svc_is_deleted and '}(versions is null or r.svc_version = any(versions::int[]))` +
      ` order by r.svc_sk for no key update of r${waits ? '' : ' skip locked'}`;
    // The update comes first in the text, as in `setDeletedSql`.
    const text =
      `update ${tableName(table)} t set ${sets} from ${clockSql}, (${locked}) u where t.svc_sk = u.sk` +
      ` and ${currentSql(table, values.bind)} returning svc_sk, ${oneRecordSql(table, values.bind)} as record, svc_version`;
    return new Template(text, values, given.length);
  });
  return template.fill([
    ...('key' in first
      ? [...first.key.values()].map((cell) => [cell])
      : [updates.map((update) => 'id' in update && update.id)]),
    updates.map(({ versions }) => (versions ? `{${versions}}` : null)),
    updates.map(({ origin }) => origin.actor),
    updates.map(({ origin }) => origin.requestId),
    ...columns.map((column) => updates.map(({ cells }) => cells.get(column) ?? null)),
  ]);
}

/**
 * Reads rows, deleted or not, as they are or were: `svc_sk`, `record`, `svc_version`,
 * `svc_is_deleted`.
 */
export function showSql(table: DeployedTable, ids: readonly string[], reading: Reading = {}): Statement {
  const { asOf, targets, through } = reading;
  if (targets || through) return showInFullSql(table, ids, reading);
  const template = templateOf(table, asOf === undefined ? 'show' : 'show as of', () => {
    const values = new Values();
    const rows = `svc_sk = ${anyHiddenFromPlanner(values.slot('bigint[]'), 'bigint')}`;
    const at = asOf === undefined ? undefined : values.slot('timestamptz');
    const slots = values.list.length;
    const text =
      `select ${shownSql(oneRecordSql(table, values.bind))} from ${rowsSql(table, at)}` +
      ` where ${rows} and ${answerableSql(table, at, values.bind)}`;
    return new Template(text, values, slots);
  });
  return template.fill(asOf === undefined ? [ids] : [ids, asOf]);
}

const shownSql = (record: string) => `svc_sk, ${record} as record, svc_version, svc_is_deleted`;

function showInFullSql(table: DeployedTable, ids: readonly string[], reading: Reading): Statement {
  const { values, record, maxBytes, at } = startWithRecord(table, reading, 'p');
  const whole = mayOverflow(1, maxBytes) ? boundedRecordSql(record) : record;
  const rows = `(select * from ${relationOf(table, reading, at, values.bind)} where svc_sk = ${anyHiddenFromPlanner(values.bind(ids, 'bigint[]'), 'bigint')}) p`;
  return {
    text: `select ${shownSql(whole)} from ${rows} where ${readableSql(table, reading, at, values.bind)}`,
    values: values.list,
  };
}

/**
 * Reads live rows by their primary keys, as they are or were: the same columns, and the `place` of
 * the key. Of two rows that had a key before it was one, the later comes first.
 */
export function showKeyedSql(table: DeployedTable, keys: readonly Cells[], reading: Reading = {}): Statement {
  const { asOf, targets } = reading;
  const key = keyColumns(table.structure);
  const cells = key.map((column) => keys.map((cells) => cells.get(column)));
  const write = (values: Values, given: string[], at: string | undefined, record: string) =>
    `select place, ${shownSql(record)} from unnest(${given.map(hiddenFromPlanner).join(', ')}) with ordinality given(${[...key.map(keyCell), 'place'].join(', ')})` +
    ` join (select * from ${rowsSql(table, at)}) p on ${hasKeySql(key, 'p', 'given')}` +
    ` where ${readableSql(table, reading, at, values.bind)}${at === undefined ? '' : ' order by svc_updated_at desc'}`;
  const types = key.map((column) => `${typeOf(column).base}[]`);
  if (targets || asOf !== undefined) {
    const { values, record, maxBytes, at } = startWithRecord(table, reading, 'p');
    const given = types.map((type, i) => values.bind(cells[i], type));
    const whole = mayOverflow(1, maxBytes) ? boundedRecordSql(record) : record;
    return { text: write(values, given, at, whole), values: values.list };
  }
  const template = templateOf(table, 'show keyed', () => {
    const values = new Values();
    const given = types.map((type) => values.slot(type));
    return new Template(write(values, given, undefined, oneRecordSql(table, values.bind)), values, given.length);
  });
  return template.fill(cells);
}

/** The row that a deletion or a restoration returns. */
export type DeletionChange = { count: number; unknown: string[] };

/**
 * Soft-deletes rows, all or nothing. Returns one row with the `count` of those that were live and
 * the `unknown` ids (with any of these no row is deleted), or none when the table has changed.
 * `version`: only while a row has it.
 */
export function deleteSql(table: DeployedTable, ids: string[], origin: Origin, version?: number): Statement {
  return setDeletedSql(table, ids, origin, true, version);
}

/** Restores deleted rows, the same way. */
export function restoreSql(table: DeployedTable, ids: string[], origin: Origin): Statement {
  return setDeletedSql(table, ids, origin, false);
}

// Rows are locked in one order, so that two such statements never deadlock; then the clock is read
// once for all. The update comes first in the text, so that the statement takes the writer's lock
// of the table at once: a reader's lock that is raised later would deadlock with a deployment that
// waits for readers. Rows are never removed, so unknown ids need no lock.
function setDeletedSql(
  table: DeployedTable,
  ids: string[],
  { actor, channel, requestId }: Origin,
  deleted: boolean,
  version?: number,
): Statement {
  const values = new Values();
  const list = values.bind(ids, 'bigint[]');
  const name = tableName(table);
  const sets = [
    `svc_is_deleted = ${deleted}`,
    `svc_updated_at = ${monotonicSql('t.')}`,
    'svc_version = t.svc_version + 1',
    `svc_updated_by = ${values.bind(actor, 'text')}`,
    `svc_request_id = ${values.bind(requestId, 'text')}`,
    `svc_channel = ${channelSql(channel)}`,
  ];
  const wanted = version === undefined ? '' : ` and svc_version = ${values.bind(version, 'int')}`;
  const locked = `(select array_agg(svc_sk) as ids from (select svc_sk from ${name} where svc_sk = any(${list})${wanted} order by svc_sk for update) each) locked`;
  const unknown = `select distinct id from unnest(${list}) id where not exists (select from ${name} o where o.svc_sk = id)`;
  return {
    text:
      `with done as (update ${name} t set ${sets.join(', ')}` +
      ` from ${locked} cross join lateral (select ${nowSql} as at where locked.ids is not null) clock` +
      ` where t.svc_sk = any(locked.ids) and t.svc_is_deleted = ${!deleted} and not exists (${unknown})` +
      ` and ${currentSql(table, values.bind)} returning 1)` +
      ` select (select count(*) from done) as count, array(${unknown} order by id) as unknown where ${currentSql(table, values.bind)}`,
    values: values.list,
  };
}
