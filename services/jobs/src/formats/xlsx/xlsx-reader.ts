// XLSX workbooks: the rows of the first sheet. The first row with a value is the header. Cells
// become the text that people see, exact for numbers, in ISO form for dates.
import { plainNumber } from '@almanac/service-kit/api/plain-number';
import { toExplicitInstant } from '../table-file/explicit-instant.ts';
import { fileError } from '../table-file/file-error.ts';
import { type CellProblem, excerpt, type StagedRow, stagedBytes } from '../table-file/staged-rows.ts';
import { type ColumnTarget, type FileSource, maxFileColumns, type TableFile } from '../table-file/table-file.ts';
import { addressOf, columnOf } from './cell-addresses.ts';
import { dateText } from './xlsx-dates.ts';
import { openWorkbook, TextReader, unescaped, type Workbook } from './xlsx-workbook.ts';
import { readXml } from './xml.ts';

/**
 * `error`: the cell shows an error such as #N/A; `none`: a formula without a stored result;
 * `neither`: a boolean that is neither true nor false.
 */
type Cell = {
  kind: 'text' | 'number' | 'boolean' | 'isodate' | 'error' | 'none' | 'neither';
  text: string;
  style: number;
};
/** Cells are sparse; the last one is present. */
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
  const header = headerOf(head, workbook);
  if (header.length > maxFileColumns)
    throw fileError(`The header has ${header.length} columns; at most ${maxFileColumns} are read.`);
  let seen = 0;
  return {
    format: 'xlsx',
    header,
    layout: { delimiter: ',', quote: '"', numbered: true, first_row: 1 },
    rows: (targets) => {
      const staged = (rows: Row[]) => {
        seen += rows.length;
        return rows.map((row) => stagedRow(row, header, targets, workbook));
      };
      const all = async function* () {
        yield staged(others);
        for await (const rows of batches) yield staged(rows);
      };
      return stagedBytes(
        all(),
        targets.map((place) => place?.target),
      );
    },
    rowsRead: () => seen,
    close: async () => {
      await batches.return(undefined);
    },
  };
}

function headerOf({ number, cells }: Row, workbook: Workbook): string[] {
  const problems: string[] = [];
  const names = Array.from(cells, (cell, i) => {
    const name = cell ? textOf(cell, workbook, 'text') : '';
    if (cell && name === undefined) problems.push(`${problemOf(cell, addressOf(i, number))}.`);
    return (name ?? '').trim();
  });
  if (problems.length > 0) throw fileError(problems);
  return names;
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

function cellOf(
  { type, style, value, formula }: { type: string; style: number; value?: string; formula: boolean },
  { texts }: Workbook,
  row: number,
): Cell | undefined {
  // Programs that don't calculate (openpyxl) store `<v></v>`; for a text it is the result "".
  if (formula && (value === undefined || (type !== 'str' && value.trim() === '')))
    return { kind: 'none', text: '', style };
  if (value === undefined) return undefined;
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
  targets: readonly (ColumnTarget | undefined)[],
  workbook: Workbook,
): StagedRow {
  const problems: CellProblem[] = [];
  const staged = header.map((_name, i) => {
    const cell = cells[i];
    if (!cell) return null;
    const place = targets[i];
    const text = textOf(cell, workbook, place?.dataType ?? 'text');
    if (place && text === undefined)
      problems.push({
        column: place.target,
        value: excerpt(cell.text),
        message: problemOf(cell, addressOf(i, number)),
      });
    if (place?.formatted && text !== undefined && isDateCell(cell, workbook)) return toExplicitInstant(text);
    return text ?? null;
  });
  if (cells.length > header.length) {
    const message = `The row has a value in column ${cells.length}, which the header doesn't name.`;
    problems.push({ column: '', value: excerpt(cells.at(-1)?.text ?? ''), message });
  }
  return { number, cells: staged, problems };
}

const textless = new Map<Cell['kind'], (text: string) => string>([
  ['error', (text) => `shows the error ${excerpt(text)}: mend the cell, or empty it`],
  [
    'none',
    () =>
      'is a formula without a stored result: open the workbook in a spreadsheet program and save it again, or paste values',
  ],
  ['neither', () => 'is a boolean that is neither true nor false'],
]);

// Why a cell has no text.
const problemOf = ({ kind, text }: Cell, address: string): string =>
  `${address} ${textless.get(kind)?.(text) ?? 'shows a date that is not in the calendar'}`;

// Whether the file itself marks the cell as a date or a time.
const isDateCell = ({ kind, style }: Cell, { styles }: Workbook) =>
  kind === 'isodate' || (kind === 'number' && styles[style] !== undefined);

// Other texts are no numbers of a workbook, even if JavaScript parses them (0x10).
const numberOf = (text: string) => (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN);

// Undefined: it has no text.
function textOf({ kind, text, style }: Cell, workbook: Workbook, dataType: string): string | undefined {
  if (textless.has(kind)) return undefined;
  if (kind === 'isodate') return dataType === 'date' ? text.replace(/T00:00(:00(\.0+)?)?Z?$/, '') : text;
  if (kind !== 'number') return text;
  const shows = workbook.styles[style];
  if (shows) return dateText(numberOf(text), shows, workbook.since1904, dataType);
  // Programs write 1.1 as 1.1000000000000001; integers stay as they are, however long.
  if (/^-?\d+$/.test(text)) return text;
  const number = numberOf(text);
  return Number.isFinite(number) ? plainNumber(number) : text;
}
