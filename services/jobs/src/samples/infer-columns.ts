// Infers the columns of a table from a sample of a file: names, types, sizes, required columns, and
// a likely key. Values that allow several types stay text, with a note. Pure.
import { foldName } from '../formats/table-file/column-names.ts';
import { filledCells, type Sample } from './read-sample.ts';
import { digitsOf, type Separator } from './sample-numbers.ts';
import { type ColumnTraits, readStyle, type SampleStyle } from './sample-style.ts';

/** A column as POST /column_definitions takes it. */
export type ProposedColumn = {
  name: string;
  data_type: string;
  length?: number;
  scale?: number;
  is_primary_key: boolean;
  is_required: boolean;
};

export type Inferred = {
  style: SampleStyle;
  columns: { source_column: string; column: ProposedColumn; notes: string[] }[];
};

type Typed = { data_type: string; length?: number; scale?: number; note?: string };

/** One column for each of the sample's, in its order. */
export function inferColumns(sample: Sample): Inferred {
  const style = readStyle(sample);
  const names = new Set<string>();
  const columns = sample.header.map((source, position) => {
    const { note, ...type } = typeOf(style.columns[position] as ColumnTraits, style, source);
    const name = columnName(source, position, names);
    const cells = filledCells(sample, position).length;
    const column = { name, ...type, is_primary_key: false, is_required: cells > 0 && cells === sample.rows.length };
    return { source_column: source, column, notes: note === undefined ? [] : [note] };
  });
  for (const position of likelyKey(
    sample,
    columns.map(({ column }) => column),
  )) {
    const { column } = columns[position] as Inferred['columns'][number];
    column.is_primary_key = true;
  }
  return { style, columns };
}

const maxNameLength = 63;

/** A valid column name close to the name in the file, unique in the table. */
function columnName(source: string, position: number, taken: Set<string>): string {
  const plain = source.replaceAll('ß', 'ss').normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const words = plain
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase();
  const begun = /^[a-z]/.test(words) && !words.startsWith('svc_') ? words : `column_${words || position + 1}`;
  for (let n = 1; ; n += 1) {
    const end = n === 1 ? '' : `_${n}`;
    const name = begun.slice(0, maxNameLength - end.length) + end;
    if (taken.has(foldName(name))) continue;
    taken.add(foldName(name));
    return name;
  }
}

const booleans = new Set(['true', 'false', 'TRUE', 'FALSE', 'True', 'False']);
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function typeOf({ cells, dates, numbers }: ColumnTraits, style: SampleStyle, source: string): Typed {
  if (cells.length === 0) return { data_type: 'string', length: 255, note: 'The sample has no value for it.' };
  const all = (test: (cell: string) => boolean) => cells.every(test);
  if (all((cell) => booleans.has(cell))) return { data_type: 'boolean' };
  if (numbers) {
    const separator = numbers.separator === 'either' ? style.decimalSeparator : numbers.separator;
    if (separator === undefined)
      return {
        ...textType(cells),
        note: 'The sample does not tell its decimal separator from groups of three digits.',
      };
    return numberType(cells, separator === 'none' ? '.' : separator);
  }
  if (dates) {
    const isOpen = style.ambiguousDates.includes(source);
    return {
      data_type: dates.kind,
      ...(isOpen ? { note: 'The sample does not tell day from month; say it in an import mapping.' } : {}),
    };
  }
  if (all((cell) => uuid.test(cell))) return { data_type: 'uuid' };
  if (all(isJson)) return { data_type: 'json' };
  return textType(cells);
}

const precisions = [10, 18, 28, 38];

// The precision leaves room for larger numbers than those of the sample; the scale is the sample's.
function numberType(cells: string[], separator: Separator): Typed {
  const digits = cells.map((cell) => digitsOf(cell, separator));
  const scale = Math.max(...digits.map(({ fraction }) => fraction));
  const whole = Math.max(...digits.map(({ whole }) => whole));
  if (scale > 0) {
    const length = precisions.find((each) => each >= whole + scale);
    return length === undefined ? textType(cells) : { data_type: 'decimal', length, scale };
  }
  if (whole <= 9) return { data_type: 'integer' };
  if (whole <= 18) return { data_type: 'bigint' };
  return whole <= 38 ? { data_type: 'decimal', length: 38, scale: 0 } : textType(cells);
}

const lengths = [1, 2, 3, 5, 10, 20, 50, 100, 255, 500, 1000, 2000, 4000];

// Codes have equal lengths; other texts get room.
function textType(cells: string[]): Typed {
  const sizes = cells.map((cell) => [...cell].length);
  const longest = Math.max(...sizes);
  if (cells.length > 1 && longest <= 20 && sizes.every((size) => size === longest))
    return { data_type: 'string', length: longest };
  const length = lengths.find((each) => each >= longest);
  return length === undefined ? { data_type: 'text' } : { data_type: 'string', length };
}

function isJson(cell: string): boolean {
  if (!/^[[{]/.test(cell)) return false;
  try {
    JSON.parse(cell);
    return true;
  } catch {
    return false;
  }
}

const keyTypes = new Set(['integer', 'bigint', 'string', 'uuid']);
const keyName = /(?:^|_)(?:id|key|code|nr|no|num|number|nummer|iso|iso2|iso3|uuid)$/;
const maxPairColumns = 10;

// Few rows prove little: names that look like keys win, then the order of columns; else two columns
// that are unique in combination.
function likelyKey({ rows }: Sample, columns: ProposedColumn[]): number[] {
  if (rows.length < 2) return [];
  const can = columns.flatMap(({ data_type, length = 0, is_required }, position) =>
    is_required && keyTypes.has(data_type) && length <= 255 ? [position] : [],
  );
  const isUnique = (...positions: number[]) =>
    new Set(rows.map((row) => JSON.stringify(positions.map((position) => row[position]?.trim())))).size === rows.length;
  const alone = can.filter((position) => isUnique(position));
  const best = alone.find((position) => keyName.test((columns[position] as ProposedColumn).name)) ?? alone[0];
  if (best !== undefined) return [best];
  const few = can.slice(0, maxPairColumns);
  for (const [i, first] of few.entries())
    for (const second of few.slice(i + 1)) if (isUnique(first, second)) return [first, second];
  return [];
}
