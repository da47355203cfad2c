import type { AnyColumn } from './queries.ts';

export type DataType = AnyColumn['data_type'];

/** The types of columns, in the order in which they are offered. */
export const dataTypes = [
  'string',
  'text',
  'integer',
  'bigint',
  'smallint',
  'decimal',
  'real',
  'double',
  'boolean',
  'date',
  'time',
  'datetime',
  'timestamptz',
  'uuid',
  'json',
] as const satisfies readonly DataType[];

/** The types with a length. That of a decimal counts its digits, and some of them are decimals. */
export const hasLength = (type: string) => type === 'string' || type === 'decimal';

export function isDataType(type: string): type is DataType {
  return dataTypes.some((known) => known === type);
}

/** `string(40)`, `decimal(12, 2)`, `date`. */
export function typeText({ data_type, length, scale }: Pick<AnyColumn, 'data_type' | 'length' | 'scale'>): string {
  if (length === null) return data_type;
  return `${data_type}(${scale === null ? length : `${length}, ${scale}`})`;
}
