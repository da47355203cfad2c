// A deployed table, as an entry of data's own catalogue, and pure functions of it.
import type { DataType } from '../values/value-types.ts';

/** A column as deployed; the spelling of the wire and of the catalogue. */
export type Column = {
  column_definition_id: number;
  /** The same across branches, renames and versions; names the physical column. */
  lineage_id: number;
  name: string;
  data_type: DataType;
  length: number | null;
  scale: number | null;
  is_primary_key: boolean;
  is_required: boolean;
  foreign_key_table_id: number | null;
  /**
   * Refers to its own table, and no row may lead back to itself. Absent: false, also in what
   * earlier releases deployed.
   */
  is_hierarchy?: boolean;
  valid_values: string[];
  description: string;
};

/**
 * A foreign key: columns (by lineage) that refer, in order, to the whole primary key of the target.
 */
export type ForeignKey = {
  columns: number[];
  target_table_id: number;
  target_lineage_id: number;
  target_columns: number[];
  is_hierarchy?: boolean;
};

export type Structure = {
  description: string;
  lookup_display_column_id: number | null;
  columns: Column[];
  foreign_keys: ForeignKey[];
  /**
   * Records show decimals and bigints as strings (`open-table.ts`); never in the catalogue itself.
   */
  exact_numbers?: true;
};

/**
 * How rows of a table change: directly, or by change requests alone. `machine_imports`: then
 * imports of applications go on.
 */
export type RowPolicy = { row_changes: 'direct' | 'request'; machine_imports: boolean };

/** An entry of the catalogue. */
export type DeployedTable = RowPolicy & {
  table_definition_id: number;
  account_id: number;
  branch_id: number;
  domain_id: number;
  lineage_id: number;
  uuid: string;
  key: string;
  name: string;
  load_type: string;
  version: number;
  revision: number;
  /** The earliest instant as of which rows can be read, in milliseconds since 1970. */
  history_since: number;
  structure: Structure;
};

/** A table as metadata wants it: its foreign keys are not resolved yet. */
export type WantedTable = Omit<DeployedTable, 'account_id' | 'revision' | 'history_since' | keyof RowPolicy> & {
  /** Of a new table; a deployed one stays under its policy (`row-policies.ts`). */
  row_changes?: RowPolicy['row_changes'] | undefined;
  machine_imports?: boolean | undefined;
  row_policy_revision?: number | undefined;
  /** Of a new table: the deployed table whose rows it starts with. */
  rows_from_table_id?: number | undefined;
  rows_asked_by?: number | undefined;
};

/** Columns of the primary key, in the order of the definition. */
export function keyColumns(structure: Pick<Structure, 'columns'>): Column[] {
  return structure.columns.filter((column) => column.is_primary_key);
}

/** Whether live rows must have a value in the column. */
export function isRequired(column: Column): boolean {
  return column.is_required || column.is_primary_key;
}

/** The column with this lineage. */
export function getColumn(structure: Pick<Structure, 'columns'>, lineageId: number): Column {
  const column = structure.columns.find((each) => each.lineage_id === lineageId);
  if (!column) throw new Error(`no column of lineage ${lineageId}`);
  return column;
}

/** What the physical form of a table depends on; `loading`: the load that fills a new one. */
export type Shape = Pick<DeployedTable, 'branch_id' | 'lineage_id' | 'structure'> & { loading?: number };
