// The checks of rows before a deployment: how many would lose something (warnings), how many make
// it impossible (blockers). Every check is a count over live rows, made before anything changes.

import { columnName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import {
  type Column,
  type DeployedTable,
  type ForeignKey,
  getColumn,
  isRequired,
  keyColumns,
  type WantedTable,
} from '../../tables/table.ts';
import type { Bind } from '../../values/check.ts';
import { typeOf } from '../../values/value-types.ts';
import { findCast, keepsValues } from './casts.ts';

export type RowCheck = {
  kind: 'warning' | 'blocker';
  message: string;
  /** A condition on one row, or a scalar subquery that counts. */
  condition?: string;
  count?: string;
};

/** A table before and after. */
export type Pair = { old: DeployedTable | undefined; wanted: WantedTable };

/**
 * All checks of the rows of one table. `pairOf`: before and after of a referenced table, by
 * lineage.
 */
export function rowChecks({ old, wanted }: Pair, pairOf: (lineageId: number) => Pair, bind: Bind): RowCheck[] {
  if (!old) return [];
  const before = new Map(old.structure.columns.map((column) => [column.lineage_id, column]));
  const kept = new Set(wanted.structure.columns.map((column) => column.lineage_id));
  const dropped = old.structure.columns
    .filter((column) => !kept.has(column.lineage_id))
    .map(
      (column): RowCheck => ({
        kind: 'warning',
        message: `${column.name} is dropped with its values.`,
        condition: `${columnName(column)} is not null`,
      }),
    );
  const columns = wanted.structure.columns.flatMap((column) =>
    columnChecks(before.get(column.lineage_id), column, wanted, bind),
  );
  return [...dropped, ...columns, ...duplicateChecks(old, wanted), ...referenceChecks(old, wanted, pairOf)];
}

function columnChecks(was: Column | undefined, column: Column, wanted: WantedTable, bind: Bind): RowCheck[] {
  if (!was)
    return isRequired(column)
      ? [
          {
            kind: 'blocker',
            message: `${column.name} is new and required; existing rows have no value.`,
            condition: 'true',
          },
        ]
      : [];
  const x = columnName(column);
  const checks: RowCheck[] = [];
  if (isRequired(column) && !isRequired(was))
    checks.push({
      kind: 'blocker',
      message: `${column.name} is required; rows have no value.`,
      condition: `${x} is null`,
    });
  const cast = findCast(was, column);
  const valid = cast?.valid(x) ?? 'true';
  if (cast && valid !== 'true')
    checks.push({
      kind: 'blocker',
      message: `${column.name} has values that can't become ${describeType(column)}.`,
      condition: `${x} is not null and not (${valid})`,
    });
  if (cast?.lossy)
    checks.push({
      kind: changesMeaning(column, wanted) ? 'blocker' : 'warning',
      message: `${column.name} has values that are shortened to become ${describeType(column)}.`,
      condition: `case when ${x} is not null and ${valid} then ${cast.lossy(x)} else false end`,
    });
  const before = was.valid_values;
  const holdsAlready =
    keepsValues(was, column) && before.length > 0 && before.every((value) => column.valid_values.includes(value));
  if (column.valid_values.length > 0 && !holdsAlready)
    checks.push({
      kind: 'blocker',
      message: `${column.name} has values that are not in the list of valid values.`,
      condition: `${finalSql(was, column, x)} <> all(${bind(column.valid_values, `${typeOf(column).base}[]`)})`,
    });
  return checks;
}

// Shortening a value of a key or of a list of valid values would change what it means.
function changesMeaning(column: Column, wanted: WantedTable): boolean {
  return (
    column.is_primary_key ||
    column.valid_values.length > 0 ||
    wanted.structure.foreign_keys.some((foreignKey) => foreignKey.columns.includes(column.lineage_id))
  );
}

function describeType(column: Column): string {
  if (column.data_type === 'string' && column.length !== null) return `string(${column.length})`;
  if (column.data_type === 'decimal' && (column.length !== null || column.scale !== null))
    return `decimal(${column.length ?? 1000},${column.scale ?? 0})`;
  return column.data_type;
}

/** The value that a kept column will have; null where it has none or can't be cast. */
export function finalSql(was: Column | undefined, column: Column, x: string): string {
  if (!was) return `null::${typeOf(column).base}`;
  const cast = findCast(was, column);
  if (!cast) return x;
  const valid = cast.valid(x);
  return valid === 'true' ? cast.value(x) : `case when ${valid} then ${cast.value(x)} end`;
}

type TableVersion = { structure: { columns: Column[] } } | undefined;

/** The value that a column will have in an existing row. */
export function finalOf(old: TableVersion, column: Column, alias: string): string {
  const was = old?.structure.columns.find((each) => each.lineage_id === column.lineage_id);
  return finalSql(was, column, `${alias}.${columnName(column)}`);
}

function duplicateChecks(old: DeployedTable, wanted: WantedTable): RowCheck[] {
  const key = keyColumns(wanted.structure);
  const before = keyColumns(old.structure);
  const unchanged =
    key.length === before.length &&
    key.every((column) => {
      const was = before.find((each) => each.lineage_id === column.lineage_id);
      return was !== undefined && keepsValues(was, column);
    });
  if (key.length === 0 || unchanged) return [];
  const exprs = key.map((column) => finalOf(old, column, 't')).join(', ');
  const names = key.map((column) => column.name).join(', ');
  return [
    {
      kind: 'blocker',
      message: `${names} is the primary key; rows share a value.`,
      count: `(select coalesce(sum(n), 0)::bigint from (select count(*) as n from ${tableName(old)} t where not t.svc_is_deleted group by ${exprs} having count(*) > 1) g)`,
    },
  ];
}

// Made for every new foreign key: on a large table PostgreSQL adds it without reading a row
// (`objects.ts`).
function referenceChecks(old: DeployedTable, wanted: WantedTable, pairOf: (lineageId: number) => Pair): RowCheck[] {
  return wanted.structure.foreign_keys.flatMap((foreignKey): RowCheck[] => {
    const before = old.structure.foreign_keys.filter((each) => each.target_table_id === foreignKey.target_table_id);
    if (before.some((each) => isKept(each, foreignKey, { old, wanted }, pairOf))) return [];
    const target = pairOf(foreignKey.target_lineage_id);
    const columns = foreignKey.columns.map((lineage) => getColumn(wanted.structure, lineage));
    const names = columns.map((column) => column.name).join(', ');
    const own = columns.map((column) => finalOf(old, column, 't'));
    const given = own.map((expression) => `(${expression}) is not null`).join(' and ');
    const rows = `select count(*) from ${tableName(old)} t where not t.svc_is_deleted and ${given}`;
    const found = target.old && `select from ${tableName(target.old)} r where not r.svc_is_deleted`;
    const matches = foreignKey.target_columns
      .map((lineage, i) => `(${finalOf(target.old, getColumn(target.wanted.structure, lineage), 'r')}) = (${own[i]})`)
      .join(' and ');
    const orphans: RowCheck = {
      kind: 'blocker',
      message: `${names} refers to ${target.wanted.name}; rows have values that are not there.`,
      count: `(${rows}${found ? ` and not exists (${found} and ${matches})` : ''})`,
    };
    const moved = before.find((each) => isMoved(each, foreignKey));
    if (!moved || !found) return [orphans];
    const wasIts = moved.columns.map(
      (lineage_id, i) =>
        `r.${columnName({ lineage_id: moved.target_columns[i] as number })} = t.${columnName({ lineage_id })}`,
    );
    return [
      orphans,
      {
        kind: 'warning',
        message: `${names} refers to another key of ${target.wanted.name}; rows come to refer to other records.`,
        count: `(${rows} and exists (${found} and ${matches} and (${wasIts.join(' and ')}) is not true))`,
      },
    ];
  });
}

const pairsOf = ({ columns, target_columns }: ForeignKey) =>
  columns.map((lineage, i) => `${lineage} ${target_columns[i]}`);
const inOrder = (foreignKey: ForeignKey) => pairsOf(foreignKey).join();

/** Whether a reference is unchanged, so that its rows still refer to the same rows. */
export const isKept = (
  before: ForeignKey,
  after: ForeignKey,
  { old, wanted }: Pair,
  pairOf: (lineageId: number) => Pair,
): boolean => inOrder(before) === inOrder(after) && old !== undefined && !isCast(after, old, wanted, pairOf);

// Whether the same columns refer to other columns than before.
function isMoved(before: ForeignKey, after: ForeignKey): boolean {
  const isSame = (a: (number | string)[], b: (number | string)[]) => a.toSorted().join() === b.toSorted().join();
  return isSame(before.columns, after.columns) && !isSame(pairsOf(before), pairsOf(after));
}

function isCast(
  foreignKey: ForeignKey,
  old: DeployedTable,
  wanted: WantedTable,
  pairOf: (lineageId: number) => Pair,
): boolean {
  const target = pairOf(foreignKey.target_lineage_id);
  const changed = (from: TableVersion, to: WantedTable, lineage: number) => {
    const was = from?.structure.columns.find((each) => each.lineage_id === lineage);
    const column = getColumn(to.structure, lineage);
    return !was || !keepsValues(was, column) || typeOf(was).base !== typeOf(column).base;
  };
  return (
    foreignKey.columns.some((lineage) => changed(old, wanted, lineage)) ||
    foreignKey.target_columns.some((lineage) => changed(target.old, target.wanted, lineage))
  );
}

/**
 * One statement that makes all checks of one table: one row, an array `rows` in the order of
 * `checks`.
 */
export function rowChecksSql(
  pair: Pair,
  pairOf: (lineageId: number) => Pair,
): { checks: RowCheck[]; statement: Statement } | undefined {
  const values = new Values();
  const checks = rowChecks(pair, pairOf, values.bind);
  if (!pair.old || checks.length === 0) return undefined;
  const counts = checks.map((check) => check.count ?? `count(*) filter (where ${check.condition})`);
  const scans = checks.some((check) => check.condition !== undefined);
  const from = scans ? ` from ${tableName(pair.old)} where not svc_is_deleted` : '';
  return {
    checks,
    statement: {
      text: `select array[${counts.map((count) => `${count}::bigint`).join(', ')}] as rows${from}`,
      values: values.list,
    },
  };
}
