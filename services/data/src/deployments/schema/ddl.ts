// The statements that make the deployed tables equal to the wanted ones: drop what no longer holds,
// create and alter tables, add what holds from now on; foreign keys last, when every table exists.
// Pure.

import {
  columnName,
  gridIndexesOn,
  gridStatisticsName,
  historyName,
  retiredColumnName,
  schemaName,
  tableName,
} from '../../sql/identifiers.ts';
import { type Column, type DeployedTable, isRequired, type WantedTable } from '../../tables/table.ts';
import { typeOf } from '../../values/value-types.ts';
import { findCast } from './casts.ts';
import type { Pair } from './checks.ts';
import { createHistory } from './history-ddl.ts';
import { objectsOf } from './objects.ts';
import { rewriteRowsSql } from './rewritten-rows.ts';
import type { TableObject } from './table-object.ts';

/** Statements of one table, by the phase in which they run. */
export type TableStatements = {
  /** While the table and its history are still as they were. */
  rewrittenRows: string[];
  dropForeignKeys: string[];
  drops: string[];
  columns: string[];
  adds: string[];
  foreignKeys: string[];
  /**
   * Not in the transaction, but after it, beside readers and writers (`pending-constraints.ts`).
   */
  deferred: string[];
};
/** `retired`: columns whose values are kept for a while under another name. */
export type TableChange = { statements: TableStatements; retired: Column[] };

/** What the change of a table depends on. */
export type ChangeContext = {
  /** Makes the names of retired columns unique. */
  revision: number;
  /** Any table of the branch, as it was and as it will be. */
  oldTable: (lineageId: number) => DeployedTable;
  newTable: (lineageId: number) => WantedTable;
  /** Whether it has so many rows that reading them would make others wait too long. */
  isLarge: boolean;
};

/** All statements that make one table as it is wanted. */
export function changeTable(
  { old, wanted }: Pair,
  { revision, oldTable, newTable, isLarge }: ChangeContext,
): TableChange {
  const before = old ? objectsOf(old, oldTable) : [];
  const after = objectsOf(wanted, newTable);
  const hadBefore = new Set(before.map((object) => object.signature));
  const hasAfter = new Set(after.map((object) => object.signature));
  const dropped = before.filter((object) => !hasAfter.has(object.signature));
  const added = after.filter((object) => !hadBefore.has(object.signature));
  // The table before its history: every session locks them in this order.
  const { statements: columns, retired } = old
    ? alterBoth(old, wanted, revision)
    : { statements: [...createTable(wanted), ...createHistory(wanted)], retired: [] };
  const isForeignKey = (object: TableObject) => object.kind === 'foreign key';
  const online = (object: TableObject) => (old && isLarge ? object.online : undefined);
  const make = (object: TableObject) => online(object)?.immediate ?? [object.create];
  return {
    statements: {
      rewrittenRows: rewriteRowsSql(old, wanted),
      // Foreign keys depend on keys, also on those of other tables: all of them are dropped first.
      dropForeignKeys: dropped.filter(isForeignKey).map((object) => object.drop),
      // The last made is dropped first: a trigger depends on its function.
      drops: dropped
        .filter((object) => !isForeignKey(object))
        .map((object) => object.drop)
        .reverse(),
      columns,
      adds: added.filter((object) => !isForeignKey(object)).flatMap(make),
      foreignKeys: added.filter(isForeignKey).flatMap(make),
      deferred: added.flatMap((object) => online(object)?.deferred ?? []),
    },
    retired,
  };
}

// Vacuumed after a small share of rows has changed: at the defaults, pages under heavy updates cost
// twice the CPU.
export const storage = [
  'autovacuum_vacuum_scale_factor = 0.02',
  'autovacuum_vacuum_threshold = 500',
  'autovacuum_analyze_scale_factor = 0.02',
  'autovacuum_analyze_threshold = 500',
  'autovacuum_vacuum_insert_scale_factor = 0.05',
].join(', ');

function createTable(table: WantedTable): string[] {
  const columns = [
    'svc_sk bigint generated always as identity primary key',
    'svc_created_at timestamptz(3) not null',
    'svc_updated_at timestamptz(3) not null',
    'svc_version integer not null default 1',
    'svc_is_deleted boolean not null default false',
    'svc_live boolean generated always as (case when svc_is_deleted then null else true end) stored',
    'svc_channel "char"',
    ...packed(table.structure.columns).map((column) => `${columnName(column)} ${typeOf(column).physical(column)}`),
    'svc_updated_by text',
    'svc_request_id text',
  ];
  return [
    `create schema if not exists ${schemaName(table.branch_id)}`,
    `create table ${tableName(table)} (${columns.join(', ')}) with (${storage})`,
  ];
}

const widths: Record<string, number> = {
  bigint: 8,
  double: 8,
  datetime: 8,
  timestamptz: 8,
  time: 8,
  integer: 4,
  date: 4,
  real: 4,
  smallint: 2,
  boolean: 1,
  uuid: 1,
};

// Wide fixed columns first and variable ones last, so that rows need no padding; records show the
// order of the definition anyway.
function packed(columns: Column[]): Column[] {
  const rank = (column: Column) => (widths[column.data_type] ?? 0) * 2 + (isRequired(column) ? 1 : 0);
  return columns.toSorted((a, b) => rank(b) - rank(a));
}

type Alteration = { statements: string[]; retired: Column[] };

function alterBoth(old: DeployedTable, wanted: WantedTable, revision: number): Alteration {
  const { statements, retired } = alterColumns(tableName(wanted), old, wanted, revision);
  const history = alterColumns(historyName(wanted), old, wanted, revision);
  return { statements: [...dropGridIndexes(old, wanted), ...statements, ...history.statements], retired };
}

// Never fails on a value: one that can't be cast becomes null, and stays in the retired column for
// a while.
function alterColumns(name: string, old: DeployedTable, wanted: WantedTable, revision: number): Alteration {
  const before = new Map(old.structure.columns.map((column) => [column.lineage_id, column]));
  const kept = new Set(wanted.structure.columns.map((column) => column.lineage_id));
  const statements: string[] = [];
  const alterations: string[] = [];
  const retired: Column[] = [];
  for (const column of old.structure.columns) {
    if (kept.has(column.lineage_id)) continue;
    const keptName = retiredColumnName(column.lineage_id, revision);
    statements.push(`alter table ${name} rename column ${columnName(column)} to ${keptName}`);
    retired.push(column);
  }
  for (const column of wanted.structure.columns) {
    const was = before.get(column.lineage_id);
    const physical = typeOf(column).physical(column);
    const x = columnName(column);
    if (!was) {
      alterations.push(`add column ${x} ${physical}`);
      continue;
    }
    const cast = findCast(was, column);
    if (!cast) continue;
    const valid = cast.valid(x);
    const lost = [valid === 'true' ? [] : [`not (${valid})`], cast.lossy ? [cast.lossy(x)] : []].flat();
    if (lost.length > 0) {
      const keptName = retiredColumnName(column.lineage_id, revision);
      statements.push(`alter table ${name} add column ${keptName} ${typeOf(was).physical(was)}`);
      statements.push(`update ${name} set ${keptName} = ${x} where ${x} is not null and (${lost.join(' or ')})`);
      retired.push(was);
    }
    // Blockers leave only rows deleted before with values that can't be cast.
    const value = valid === 'true' ? cast.value(x) : `case when ${valid} then ${cast.value(x)} end`;
    alterations.push(`alter column ${x} type ${physical} using ${value}`);
  }
  if (alterations.length > 0) statements.push(`alter table ${name} ${alterations.join(', ')}`);
  return { statements, retired };
}

// Drops the grid indexes of columns that are dropped or cast. Maintenance makes those that pages
// still request (`maintenance/automatic-indexes/`).
function dropGridIndexes(old: DeployedTable, wanted: WantedTable): string[] {
  const next = new Map(wanted.structure.columns.map((column) => [column.lineage_id, column]));
  const changed = old.structure.columns.filter((column) => {
    const now = next.get(column.lineage_id);
    return !now || findCast(column, now);
  });
  if (changed.length === 0) return [];
  return [
    // Only the database knows which pairs of columns have an index.
    `do $$declare i regclass; begin for i in select c.oid from pg_index x join pg_class c on c.oid = x.indexrelid` +
      ` where x.indrelid = '${tableName(wanted)}'::regclass and c.relname ~ '${gridIndexesOn(changed)}'` +
      ` loop execute 'drop index ' || i; end loop; end$$`,
    `drop statistics if exists ${changed.map((column) => gridStatisticsName(wanted, column.lineage_id)).join(', ')}`,
  ];
}

/** All statements of a deployment's transaction, in the order in which they run. */
export function inOrder(changes: TableStatements[]): string[] {
  const all = (phase: keyof TableStatements) => changes.flatMap((change) => change[phase]);
  const phases = ['rewrittenRows', 'dropForeignKeys', 'drops', 'columns', 'adds', 'foreignKeys'] as const;
  return phases.flatMap(all);
}
