// The types of rows. The client requests exact numbers, so decimals and bigints are strings.

/**
 * What a column of each data type holds. Decimals and bigints are strings of digits, since numbers
 * of JavaScript round what has more than 15: compute with `BigInt` or a library of decimals.
 */
export type ColumnValues = {
  string: string;
  text: string;
  smallint: number;
  integer: number;
  bigint: string;
  decimal: string;
  real: number;
  double: number;
  boolean: boolean;
  date: string;
  time: string;
  datetime: string;
  timestamptz: string;
  uuid: string;
  json: unknown;
};

/** What every row has. */
export type SystemColumns = {
  svc_sk: number;
  svc_created_at: string;
  svc_updated_at: string;
  svc_is_deleted: boolean;
  svc_version: number;
  svc_updated_by: string | null;
  /** With `include_lookups`. */
  svc_lookups?: Record<string, unknown>;
};

/** A row of any table: its system columns, and its own by name. */
export type Row = SystemColumns & Record<string, unknown>;

/**
 * A row of a table with these columns, name to data type:
 * `RowOf<{ code: 'string'; amount: 'decimal' }>`.
 */
export type RowOf<Columns extends Record<string, keyof ColumnValues>> = SystemColumns & {
  [Name in keyof Columns]: ColumnValues[Columns[Name]] | null;
};
