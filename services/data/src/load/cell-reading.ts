// How the text of a cell is read before the rules of its column are applied: guards taken away, blanks trimmed, a default where nothing is, dates and
// numbers brought into the form that the rules know. Each a text expression over a text expression; the rules themselves are
// nowhere but in `values/`.
import type { ColumnSource__Output } from '@almanac/protos/generated/almanac/data/v1/ColumnSource.ts';
import type { Column } from '../catalogue/structure.ts';
import { quoteLiteral } from '../query/literals.ts';
import type { Check } from '../values/check.ts';
import { type Family, typeOf } from '../values/value-types.ts';
import { dateForm, readDateFormat } from './date-formats.ts';

export type CellReading = {
  /** Turns a text expression into the one that the rules read; null stays null unless there is a default. */
  sql: TextReading;
  /** How the file writes values, in the words of a message, where it doesn't as the column's type does. */
  form: string | undefined;
};

type TextReading = (x: string) => string;

export type FileStyle = { date_style: string; decimal_separator: string };

const longestDefault = 1000;
// Space, tab, line ends and the no-break spaces of spreadsheets.
const blanks = "E' \\t\\r\\n\\u00a0\\u202f'";

// What exports with safe cells put an apostrophe before (services/jobs/src/csv/csv-guard.ts), as PostgreSQL's patterns have it.
const guardedCell = "E'^''[-=+@\\t\\r''\\uFF1D\\uFF0B\\uFF0D\\uFF20]'";

type Given = Pick<ColumnSource__Output, 'trim' | 'date_format' | 'default_value' | 'guarded'>;

/** How cells are read that hold values of the column `holds`; or a sentence, what is wrong with what is said of `name`. */
export function readCell(
  holds: Pick<Column, 'data_type'>,
  name: string,
  { trim, date_format, default_value, guarded }: Given,
  style: FileStyle,
): CellReading | string {
  const { family } = typeOf(holds);
  const date = readDateFormat(family, style.date_style, date_format);
  if (date === undefined) return `${date_format} is no date format for ${name}.`;
  const problem = default_value === undefined ? undefined : defaultProblem(name, default_value);
  if (problem !== undefined) return problem;
  const number = readNumber(family, style.decimal_separator);
  const sql = (given: string) => {
    const x = guarded && family === 'text' ? withoutGuard(given) : given;
    const trimmed = trim ? `nullif(btrim(${x}, ${blanks}), '')` : x;
    return number(date(default_value === undefined ? trimmed : filled(trimmed, default_value)));
  };
  return { sql, form: dateForm(family, style.date_style, date_format) ?? numberForm(family, style.decimal_separator) };
}

/** What a broken rule demands of a cell that is read so. */
export const messageOf = ({ message, messageIn }: Check, { form }: CellReading): string =>
  form === undefined || messageIn === undefined ? message : messageIn(form);

const withoutGuard = (x: string) => `case when ${x} ~ ${guardedCell} then substr(${x}, 2) else ${x} end`;

const filled = (x: string, value: string) =>
  `case when coalesce(btrim(${x}, ${blanks}), '') = '' then ${quoteLiteral(value).trim()} else ${x} end`;

function defaultProblem(name: string, value: string): string | undefined {
  if (value.includes('\0') || !value.isWellFormed()) return `The default for ${name} is no text.`;
  if (value.length > longestDefault) return `The default for ${name} is longer than ${longestDefault} characters.`;
  return value.trim() === '' ? `The default for ${name} is blank.` : undefined;
}

const numbers: ReadonlySet<Family> = new Set(['integer', 'decimal', 'real', 'double']);

// In groups of three or in none; anything else with a separator in it is made to break the rule, not guessed at.
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
