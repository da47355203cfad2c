// XLSX workbooks: the rows of the first sheet. The first row with a value is the header; cells become the text that a person sees
// in them, exact where they are numbers, in ISO form where they are dates.
import { plainNumber } from '@almanac/service-kit/plain-number';
import { maxFileColumns } from '../csv/csv-file.ts';
import { fileError } from '../csv/file-error.ts';
import { type CellProblem, type StagedRow, shown, stagedBytes } from './staged-rows.ts';
import type { FileSource, Place, TableFile } from './table-file.ts';
import { unmistakable } from './unmistakable-dates.ts';
import { dateText } from './xlsx-dates.ts';
import { openWorkbook, TextReader, unescaped, type Workbook } from './xlsx-workbook.ts';
import { readXml } from './xml.ts';

/**
 * `error`: the cell shows an error such as #N/A; `none`: a formula whose result was not stored; `neither`: a boolean that is neither
 * true nor false.
 */
type Cell = {
  kind: 'text' | 'number' | 'boolean' | 'isodate' | 'error' | 'none' | 'neither';
  text: string;
  style: number;
};
/** The cells have holes where the row has none; the last one is there. */
type Row = { number: number; cells: (Cell | undefined)[] };

const lastColumn = 16_384;
const booleans = new Map([
  ['1', 'true'],
  ['true', 'true'],
  ['0', 'false'],
  ['false', 'false'],
]);

/** Reads up to the header. */
export async function openXlsx(source: FileSource): Promise<TableFile> {
  const workbook = await openWorkbook(source);
  const batches = readRows(workbook);
  const first = await batches.next();
  if (first.done) {
    throw fileError('The first sheet of the workbook is empty; it should begin with a row of column names.');
  }
  const [head, ...others] = first.value as [Row, ...Row[]];
  const header = Array.from(head.cells, (cell) => (cell ? (textOf(cell, workbook, 'text') ?? '').trim() : ''));
  if (header.length > maxFileColumns)
    throw fileError(`The header has ${header.length} columns; at most ${maxFileColumns} are read.`);
  let seen = 0;
  return {
    format: 'xlsx',
    header,
    layout: { delimiter: ',', quote: '"', numbered: true, first_row: 1 },
    rows: (places) => {
      const staged = (rows: Row[]) => {
        seen += rows.length;
        return rows.map((row) => stagedRow(row, header, places, workbook));
      };
      const all = async function* () {
        yield staged(others);
        for await (const rows of batches) yield staged(rows);
      };
      return stagedBytes(
        all(),
        places.map((place) => place?.target),
      );
    },
    rowsSeen: () => seen,
    close: async () => {
      await batches.return(undefined);
    },
  };
}

// Rows with at least one value; the array of cells ends with one.
function readRows(workbook: Workbook): AsyncGenerator<Row[]> {
  return readXml<Row>(workbook.zip.read(workbook.sheet), 'The first sheet', (emit) => {
    let row: Row | undefined;
    let number = 0;
    let column = 0;
    let cell: { type: string; style: number; value?: string; formula: boolean } | undefined;
    let inValue = false;
    const inline = new TextReader();
    return {
      open: (tag, attributes) => {
        if (tag === 'row') {
          number = Math.max(number + 1, Number(attributes.r ?? 0) || 0);
          row = { number, cells: [] };
          column = 0;
        } else if (tag === 'c' && row) {
          column = columnOf(attributes.r) ?? column + 1;
          if (column > lastColumn) throw fileError(`Row ${number} of the sheet has more than ${lastColumn} columns.`);
          cell = { type: attributes.t ?? 'n', style: Number(attributes.s ?? 0), formula: false };
          inline.begin();
        } else if (tag === 'v') inValue = true;
        else if (tag === 'f' && cell) cell.formula = true;
        else inline.open(tag);
      },
      text: (characters) => {
        if (inValue && cell) cell.value = (cell.value ?? '') + characters;
        else inline.add(characters);
      },
      close: (tag) => {
        if (tag === 'v') {
          inValue = false;
          if (cell) cell.value ??= '';
        } else if (tag === 'is' && cell) cell.value = inline.take();
        else if (tag === 'c' && cell && row) {
          const found = cellOf(cell, workbook, number);
          if (found) row.cells[column - 1] = found;
          cell = undefined;
        } else if (tag === 'row' && row) {
          if (row.cells.length > 0) emit(row);
          row = undefined;
        } else inline.close(tag);
      },
    };
  });
}

// "BC12" is column 55.
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^([A-Z]{1,3})[0-9]*$/.exec(reference ?? '')?.[1];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}

function cellOf(
  { type, style, value, formula }: { type: string; style: number; value?: string; formula: boolean },
  { texts }: Workbook,
  row: number,
): Cell | undefined {
  if (value === undefined) return formula ? { kind: 'none', text: '', style } : undefined;
  switch (type) {
    case 's': {
      const index = value.trim();
      const text = /^\d+$/.test(index) ? texts[Number(index)] : undefined;
      if (text === undefined)
        throw fileError(`Row ${row} of the sheet refers to a text that the workbook doesn't have.`);
      return { kind: 'text', text, style };
    }
    case 'str':
      return { kind: 'text', text: unescaped(value), style };
    case 'inlineStr':
      return { kind: 'text', text: value, style };
    case 'b': {
      const text = booleans.get(value.trim());
      return text === undefined ? { kind: 'neither', text: value, style } : { kind: 'boolean', text, style };
    }
    case 'e':
      return { kind: 'error', text: value, style };
    case 'd':
      return { kind: 'isodate', text: value, style };
    default: {
      const text = value.trim();
      return text === '' ? undefined : { kind: 'number', text, style };
    }
  }
}

function stagedRow(
  { number, cells }: Row,
  header: readonly string[],
  places: readonly (Place | undefined)[],
  workbook: Workbook,
): StagedRow {
  const problems: CellProblem[] = [];
  const staged = header.map((_name, i) => {
    const cell = cells[i];
    if (!cell) return null;
    const place = places[i];
    const text = textOf(cell, workbook, place?.dataType ?? 'text');
    if (place && text === undefined) problems.push(problemOf(place.target, cell));
    if (place?.formatted && text !== undefined && isMoment(cell, workbook)) return unmistakable(text);
    return text ?? null;
  });
  if (cells.length > header.length) {
    const message = `The row has a value in column ${cells.length}, which the header doesn't name.`;
    problems.push({ column: '', value: shown(cells.at(-1)?.text ?? ''), message });
  }
  return { number, cells: staged, problems };
}

const textless = new Map<Cell['kind'], string>([
  ['error', 'an error of the spreadsheet'],
  ['none', 'a formula whose result is not in the file'],
  ['neither', 'a boolean that is neither true nor false'],
]);

function problemOf(column: string, { kind, text }: Cell): CellProblem {
  const what = textless.get(kind) ?? 'a date that is not in the calendar';
  return { column, value: shown(text), message: `${column} holds ${what}` };
}

// The file itself says that it is a date or a time.
const isMoment = ({ kind, style }: Cell, { styles }: Workbook) =>
  kind === 'isodate' || (kind === 'number' && styles[style] !== undefined);

// Other texts are no numbers of a workbook, whatever JavaScript makes of them (0x10).
const numberOf = (text: string) => (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN);

// Undefined: it has no text.
function textOf({ kind, text, style }: Cell, workbook: Workbook, dataType: string): string | undefined {
  if (textless.has(kind)) return undefined;
  if (kind === 'isodate') return dataType === 'date' ? text.replace(/T00:00(:00(\.0+)?)?Z?$/, '') : text;
  if (kind !== 'number') return text;
  const shows = workbook.styles[style];
  if (shows) return dateText(numberOf(text), shows, workbook.since1904, dataType);
  // Programs write 1.1 as 1.1000000000000001; whole numbers are left as they are, however long.
  if (/^-?\d+$/.test(text)) return text;
  const number = numberOf(text);
  return Number.isFinite(number) ? plainNumber(number) : text;
}
