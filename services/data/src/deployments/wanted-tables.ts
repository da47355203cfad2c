// Reads the tables that metadata wants deployed, and finds what is wrong with each: metadata has
// checked its definitions, but names and types that become DDL are checked where the DDL is made.

import type { WantedColumn__Output } from '@almanac/protos/generated/almanac/data/v1/WantedColumn.ts';
import type { WantedTable__Output } from '@almanac/protos/generated/almanac/data/v1/WantedTable.ts';
import { limits } from '@almanac/service-kit/limits';
import { readRowChanges } from '../tables/row-policy.ts';
import { type Column, keyColumns, type WantedTable } from '../tables/table.ts';
import { type DataType, dataTypes, typeOf } from '../values/value-types.ts';

const otherNames: Record<string, DataType> = { varchar: 'string', character: 'string', timestamp: 'datetime' };

/** A table to be taken out of service, as metadata names it. */
export type UnwantedTable = Pick<WantedTable, 'table_definition_id' | 'branch_id' | 'key' | 'name'>;

/** The tables of a request: those to deploy, and those to take out of service. */
export function readTables(tables: WantedTable__Output[]): { tables: WantedTable[]; removals: UnwantedTable[] } {
  const [kept, removed] = [tables.filter((table) => !table.is_removed), tables.filter((table) => table.is_removed)];
  const removals = removed.map(({ table_definition_id, branch_id, key, name }) => ({
    table_definition_id,
    branch_id,
    key,
    name,
  }));
  return { tables: kept.map(readWantedTable), removals };
}

/** A table of the request, in the spelling of the catalogue. */
function readWantedTable(table: WantedTable__Output): WantedTable {
  return {
    table_definition_id: table.table_definition_id,
    branch_id: table.branch_id,
    domain_id: table.domain_id,
    lineage_id: table.lineage_id,
    uuid: table.uuid,
    key: table.key,
    name: table.name,
    load_type: table.load_type || 'manual',
    version: table.version,
    rows_from_table_id: table.rows_from_table_id,
    rows_asked_by: table.rows_asked_by,
    row_changes: table.row_changes ? readRowChanges(table.row_changes) : undefined,
    machine_imports: table.machine_imports,
    row_policy_revision: table.row_policy_revision,
    structure: {
      description: table.description,
      lookup_display_column_id: table.lookup_display_column_id ?? null,
      foreign_keys: [],
      columns: table.columns.map(readWantedColumn),
    },
  };
}

/** A column of the request, in the spelling of the catalogue. */
export const readWantedColumn = (column: WantedColumn__Output): Column => ({
  column_definition_id: column.column_definition_id,
  lineage_id: column.lineage_id,
  name: column.name,
  data_type: otherNames[column.data_type] ?? (column.data_type as DataType),
  length: column.length ?? null,
  scale: column.scale ?? null,
  is_primary_key: column.is_primary_key,
  is_required: column.is_required,
  foreign_key_table_id: column.foreign_key_table_id ?? null,
  ...(column.is_hierarchy && { is_hierarchy: true }),
  valid_values: column.valid_values,
  description: column.description,
});

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
const maxStringLength = 10_485_760;
const maxKeyColumns = 31; // an index has 32, one of which is svc_live

/** The problems of this table, whatever else is deployed. */
export function findTableProblems(table: WantedTable): string[] {
  const { columns } = table.structure;
  const problems: string[] = [];
  if (columns.length === 0) problems.push('The table has no columns.');
  if (columns.length > limits.columnsPerTable)
    problems.push(`The table has more than ${limits.columnsPerTable} columns.`);
  if (keyColumns(table.structure).length > maxKeyColumns)
    problems.push(`The primary key has more than ${maxKeyColumns} columns.`);
  const names = new Set<string>();
  const lineages = new Set<number>();
  for (const column of columns) {
    const folded = column.name.toLowerCase();
    if (!namePattern.test(column.name) || folded.startsWith('svc_'))
      problems.push(`${column.name} is no name for a column.`);
    if (names.has(folded) || lineages.has(column.lineage_id)) problems.push(`${column.name} is there twice.`);
    names.add(folded);
    lineages.add(column.lineage_id);
    problems.push(...findColumnProblems(column));
    if (column.is_hierarchy && column.foreign_key_table_id !== table.table_definition_id)
      problems.push(`${column.name} can be a hierarchy only when it refers to its own table.`);
  }
  return problems;
}

function findColumnProblems(column: Column): string[] {
  const problem = (text: string) => [`${column.name} ${text}`];
  if (!(dataTypes as readonly string[]).includes(column.data_type)) return problem('has an unknown data type.');
  const { length, scale } = column;
  if (column.data_type === 'string' && length !== null && !within(length, 1, maxStringLength))
    return problem(`must have a length from 1 to ${maxStringLength}.`);
  if (column.data_type === 'decimal') {
    if (length !== null && !within(length, 1, 1000)) return problem('must have a precision (length) from 1 to 1000.');
    if (scale !== null && !within(scale, 0, length ?? 1000))
      return problem('must have a scale from 0 to its precision (length).');
  }
  if (column.data_type === 'json' && (column.is_primary_key || column.foreign_key_table_id !== null))
    return problem('is JSON, which can be in no key.');
  const checks = typeOf(column).checks(column);
  const invalid = column.valid_values.find((value) => checks.some((check) => check.brokenBy(value)));
  return invalid === undefined ? [] : problem(`can't have the valid value ${invalid.slice(0, 60)}.`);
}

const within = (value: number, low: number, high: number) =>
  Number.isSafeInteger(value) && value >= low && value <= high;
