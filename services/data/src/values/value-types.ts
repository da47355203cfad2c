// The data types of columns: how each is stored, read from JSON, checked, compared and rendered.
// All code that depends on a column's type uses this table.
import { limits } from '@almanac/service-kit/limits';
import { booleanCheck, booleanFromJson } from './booleans.ts';
import type { Check } from './check.ts';
import { canonicalInstant, canonicalTime, dateCheck, instantCheck, timeCheck } from './dates.ts';
import { canonicalDecimal, decimalChecks, decimalType, maxDecimalJsonBytes } from './decimals.ts';
import { canonicalFloat, floatCheck } from './floats.ts';
import { canonicalInteger, integerCheck, numberFromJson } from './integers.ts';
import { jsonCheck, jsonFromJson } from './json.ts';
import { textChecks, textFromJson } from './texts.ts';
import { uuidCheck } from './uuids.ts';

/** The data types of the API. */
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
] as const;
export type DataType = (typeof dataTypes)[number];

/** Types that compare with each other, so that one may refer to the other by foreign key. */
export type Family =
  | 'text'
  | 'integer'
  | 'decimal'
  | 'real'
  | 'double'
  | 'boolean'
  | 'date'
  | 'time'
  | 'instant'
  | 'uuid'
  | 'json';

/** Floating point numbers. */
export const floats: ReadonlySet<Family> = new Set<Family>(['real', 'double']);

export type ColumnShape = { data_type: DataType; length: number | null; scale: number | null };

export type ValueType = {
  family: Family;
  /** The type to cast to, without length. */
  base: string;
  /** The type of the physical column. */
  physical: (column: ColumnShape) => string;
  /** The text form of a JSON value that isn't null; undefined for a value of another kind. */
  fromJson: (value: unknown) => string | undefined;
  checks: (column: ColumnShape) => Check[];
  /** The same text for equal values that passed the checks. */
  canonical: (text: string) => string;
  /**
   * An expression whose text is the value's JSON, in `concat` or cast to text; null stays null.
   * `exactNumbers`: as a string where a number may have more digits than a double holds.
   */
  jsonSql: (x: string, exactNumbers?: boolean) => string;
  /** No value's JSON text is longer than this, in bytes. */
  jsonBytes: (column: ColumnShape) => number;
  /** The value as a reader sees it, as text; null stays null. */
  textSql: (x: string) => string;
};

const same = (text: string) => text;
const short = () => 48;
const plain = (x: string) => `${x}::text`;
const quoted = (x: string) => `'"' || ${x}::text || '"'`;
const longNumber = (x: string, exactNumbers = false) => (exactNumbers ? quoted(x) : x);
// YYYY-MM-DDTHH:MM:SS.mmmZ, for instants of whole milliseconds. JSON's own form of a time costs
// half of to_char; the microsecond keeps trailing zeros. The session's time zone is UTC
// (`postgres/pools.ts`).
const wholeMilliseconds = (x: string) => `json_cell(${x} + interval '1 microsecond')::text`;

const text = (length: boolean): ValueType => ({
  family: 'text',
  base: 'text',
  physical: (column) =>
    length && column.length !== null ? `varchar(${wholeNumber(column.length)}) collate "C"` : 'text collate "C"',
  fromJson: textFromJson,
  checks: (column) => textChecks(length ? column.length : null),
  canonical: same,
  jsonSql: (x) => `json_cell(${x})`,
  // A control character becomes six letters.
  jsonBytes: (column) => 2 + 6 * Math.min((length && column.length) || limits.textCellBytes, limits.textCellBytes),
  textSql: (x) => `${x}::text`,
});

const integer = (type: 'smallint' | 'integer' | 'bigint'): ValueType => ({
  family: 'integer',
  base: type,
  physical: () => type,
  fromJson: numberFromJson,
  checks: () => [integerCheck(type)],
  canonical: canonicalInteger,
  jsonSql: type === 'bigint' ? longNumber : same,
  jsonBytes: short,
  textSql: plain,
});

const float = (type: 'real' | 'double', base: string): ValueType => ({
  family: type,
  base,
  physical: () => base,
  fromJson: numberFromJson,
  checks: () => [floatCheck(type)],
  canonical: (value) => canonicalFloat(type, value),
  jsonSql: same,
  jsonBytes: short,
  textSql: plain,
});

const instant: ValueType = {
  family: 'instant',
  base: 'timestamptz',
  physical: () => 'timestamptz(3)',
  fromJson: textFromJson,
  checks: () => [instantCheck],
  canonical: canonicalInstant,
  jsonSql: (x) => `left(${wholeMilliseconds(x)}, 24) || 'Z"'`,
  jsonBytes: short,
  textSql: (x) => `substr(${wholeMilliseconds(x)}, 2, 23) || 'Z'`,
};

const anySize: ColumnShape = { data_type: 'text', length: null, scale: null };

/**
 * The text of a value to compare columns of this type with; undefined for what is no value of it.
 * One that is longer or finer than a column may be is fine; no row has it.
 */
export function readOperand(type: ValueType, text: string): string | undefined {
  if (type.checks(anySize).some((check) => check.brokenBy(text))) return undefined;
  return type.family === 'instant' ? type.canonical(text) : text;
}

/** Each data type. */
export const valueTypes = {
  string: text(true),
  text: text(false),
  smallint: integer('smallint'),
  integer: integer('integer'),
  bigint: integer('bigint'),
  decimal: {
    family: 'decimal',
    base: 'numeric',
    physical: (column) => decimalType(decimalShape(column)),
    fromJson: numberFromJson,
    checks: (column) => decimalChecks(decimalShape(column)),
    canonical: canonicalDecimal,
    jsonSql: longNumber,
    jsonBytes: () => maxDecimalJsonBytes,
    textSql: plain,
  },
  real: float('real', 'real'),
  double: float('double', 'double precision'),
  boolean: {
    family: 'boolean',
    base: 'boolean',
    physical: () => 'boolean',
    fromJson: booleanFromJson,
    checks: () => [booleanCheck],
    canonical: (value) => value.toLowerCase(),
    jsonSql: (x) => `case when ${x} then 'true' when not ${x} then 'false' end`,
    jsonBytes: short,
    textSql: plain,
  },
  date: {
    family: 'date',
    base: 'date',
    physical: () => 'date',
    fromJson: textFromJson,
    checks: () => [dateCheck],
    canonical: same,
    jsonSql: quoted,
    jsonBytes: short,
    textSql: plain,
  },
  time: {
    family: 'time',
    base: 'time',
    physical: () => 'time',
    fromJson: textFromJson,
    checks: () => [timeCheck],
    canonical: canonicalTime,
    jsonSql: quoted,
    jsonBytes: short,
    textSql: plain,
  },
  datetime: instant,
  timestamptz: instant,
  uuid: {
    family: 'uuid',
    base: 'uuid',
    physical: () => 'uuid',
    fromJson: textFromJson,
    checks: () => [uuidCheck],
    canonical: (value) => value.toLowerCase(),
    jsonSql: quoted,
    jsonBytes: short,
    textSql: plain,
  },
  json: {
    family: 'json',
    base: 'jsonb',
    physical: () => 'jsonb',
    fromJson: jsonFromJson,
    checks: () => [jsonCheck],
    canonical: same,
    jsonSql: same,
    // PostgreSQL writes numbers without exponents, so a short text may become a long one.
    jsonBytes: () => Number.POSITIVE_INFINITY,
    textSql: plain,
  },
} satisfies Record<DataType, ValueType>;

/** The type of a column. */
export function typeOf(column: { data_type: DataType }): ValueType {
  return valueTypes[column.data_type];
}

function decimalShape(column: ColumnShape) {
  return {
    precision: column.length === null ? null : wholeNumber(column.length),
    scale: column.scale === null ? null : wholeNumber(column.scale),
  };
}

// Lengths stand in DDL, which takes no parameters: only digits may get there.
function wholeNumber(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${value} is no length`);
  return value;
}
