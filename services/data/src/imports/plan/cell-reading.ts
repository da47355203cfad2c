// How the text of a cell is read before the rules of its column apply: guards removed, blanks
// trimmed, blank cells filled by a default, dates and numbers rewritten in the form that the rules
// read. Each step is a text expression over a text expression; the rules stand in `values/` alone.
import type { ColumnSource__Output } from '@almanac/protos/generated/almanac/data/v1/ColumnSource.ts';
import { quoteLiteral } from '../../sql/literals.ts';
import type { Column } from '../../tables/table.ts';
import type { Check } from '../../values/check.ts';
import { type Family, typeOf } from '../../values/value-types.ts';
import { dateForm, readDateFormat } from './date-formats.ts';
import { type TextReading, valueMapProblem } from './value-maps.ts';

export type CellReading = {
  /**
   * Turns a text expression into the one that the rules read; null stays null unless there is a
   * default.
   */
  sql: TextReading;
  /**
   * The form in which the file writes values, for messages; undefined when it is the form of the
   * column's type.
   */
  form: string | undefined;
};

export type FileStyle = { date_style: string; decimal_separator: string };

const maxDefaultLength = 1000;
// Space, tab, line ends and the no-break spaces of spreadsheets.
const blanks = "E' \\t\\r\\n\\u00a0\\u202f'";

// Cells that exports with safe cells prefix with an apostrophe (`formula-guard.ts` of jobs), as a
// pattern of PostgreSQL.
const guardedCell = "E'^''[-=+@\\t\\r''\\uFF1D\\uFF0B\\uFF0D\\uFF20]'";

type Given = Pick<ColumnSource__Output, 'trim' | 'date_format' | 'default_value' | 'guarded' | 'values' | 'lookup'>;

/**
 * How cells are read that hold values of the column `holds`; or a sentence, what is wrong with the
 * mapping of `name`.
 */
export function readCell(
  holds: Pick<Column, 'data_type'>,
  name: string,
  given: Given,
  style: FileStyle,
): CellReading | string {
  const { family } = typeOf(holds);
  const { date_format, default_value, values } = given;
  const date = readDateFormat(family, style.date_style, date_format);
  if (date === undefined) return `${date_format} is no date format for ${name}.`;
  const problem = default_value === undefined ? undefined : defaultProblem(name, default_value);
  if (problem !== undefined) return problem;
  const unfit = values ? (valueMapProblem(name, values) ?? roundProblem(family, name, given)) : undefined;
  if (unfit !== undefined) return unfit;
  const number = readNumber(family, style.decimal_separator);
  // The text that a map gives is taken as it is.
  const text = values?.map ? (x: string) => x : readText({ ...given, guarded: given.guarded && family === 'text' });
  const places = values?.round;
  const sql = (cell: string) => {
    const x = text(cell);
    const read = number(date(default_value === undefined ? x : filled(x, default_value)));
    return places === undefined ? read : rounded(read, places);
  };
  return { sql, form: dateForm(family, style.date_style, date_format) ?? numberForm(family, style.decimal_separator) };
}

/** The message of a broken rule, for a cell that is read so. */
export const messageOf = ({ message, messageIn }: Check, { form }: CellReading): string =>
  form === undefined || messageIn === undefined ? message : messageIn(form);

/** The text of a cell without its guard and the blanks around it. */
export function readText({ trim, guarded }: Pick<Given, 'trim' | 'guarded'>): TextReading {
  return (cell) => {
    const x = guarded ? withoutGuard(cell) : cell;
    return trim ? `nullif(btrim(${x}, ${blanks}), '')` : x;
  };
}

const maxPlaces = 20;

function roundProblem(family: Family, name: string, { values, lookup }: Given): string | undefined {
  const round = values?.round;
  if (round === undefined) return undefined;
  if (lookup !== undefined || (family !== 'decimal' && family !== 'integer'))
    return `${name} holds neither decimals nor integers, so there is nothing to round.`;
  if (family === 'integer' && round !== 0) return `${name} holds integers, which are rounded to 0 places.`;
  return round < 0 || round > maxPlaces ? `${name} can be rounded to 0 to ${maxPlaces} places.` : undefined;
}

// Text that is no number is left to the rules.
const rounded = (x: string, places: number) =>
  `case when length(${x}) <= 1000 and ${x} ~ '^-?([0-9]+[.]?[0-9]*|[.][0-9]+)$' then round((${x})::numeric, ${Number(places)})::text else ${x} end`;

const withoutGuard = (x: string) => `case when ${x} ~ ${guardedCell} then substr(${x}, 2) else ${x} end`;

const filled = (x: string, value: string) =>
  `case when coalesce(btrim(${x}, ${blanks}), '') = '' then ${quoteLiteral(value).trim()} else ${x} end`;

function defaultProblem(name: string, value: string): string | undefined {
  if (value.includes('\0') || !value.isWellFormed()) return `The default for ${name} is no text.`;
  if (value.length > maxDefaultLength) return `The default for ${name} is longer than ${maxDefaultLength} characters.`;
  return value.trim() === '' ? `The default for ${name} is blank.` : undefined;
}

const numbers: ReadonlySet<Family> = new Set(['integer', 'decimal', 'real', 'double']);

// Digits in groups of three or in none; a number with any other separator breaks the rule on
// purpose, instead of being guessed at.
function readNumber(family: Family, separator: string): TextReading {
  if (separator === '' || !numbers.has(family)) return (x) => x;
  const decimal = separator === ',' ? ',' : '.';
  const groups = separator === ',' ? ".'\u00a0\u202f " : ",'\u00a0\u202f ";
  const class_ = `[${groups.replace("'", "''")}]`;
  const form = `^[+-]?([0-9]+|[0-9]{1,3}(${class_}[0-9]{3})+)([${decimal}][0-9]+)?(e[+-]?[0-9]+)?$`;
  const other = separator === ',' ? '.' : ',';
  return (x) =>
    `case when ${x} ~* '${form}' then ltrim(translate(${x}, '${decimal}${groups.replace("'", "''")}', '.'), '+')` +
    ` else replace(${x}, '${other}', ',') end`;
}

function numberForm(family: Family, separator: string): string | undefined {
  if (separator === '' || !numbers.has(family)) return undefined;
  const group = separator === ',' ? '.' : ',';
  return `written as 1${group}234${family === 'integer' ? '' : `${separator}56`}`;
}
