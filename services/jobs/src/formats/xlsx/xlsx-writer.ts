// Exports as XLSX, as a stream: a sheet of rows, and further sheets about them. Values
// that a spreadsheet program would round stay text: long numbers, times of day.
import { Readable } from 'node:stream';
import yazl from 'yazl';
import type { Cells, ExportColumn } from '../table-file/copied-rows.ts';
import { fileError } from '../table-file/file-error.ts';
import { lettersOf } from './cell-addresses.ts';
import { cellWriterOf, textCell } from './cell-xml.ts';
import { cellStyles, packageParts, type SheetName, sheetEntry, sheetFrame } from './workbook-parts.ts';

const maxRows = 1_048_576;
const maxCellCharacters = 32_767;
// A batch of rows takes three times its bytes as XML; pieces of this size are short-lived garbage.
const pieceCharacters = 64 * 1024;
const maxSheetBytes = 0xf000_0000; // more needs ZIP64, which not all programs read

/** XML besides the rows. */
export type SheetExtras = {
  /** Columns of the rows that are hidden. */
  hidden: ReadonlySet<string>;
  /** Elements after the rows of their sheet. */
  afterRows: string;
  /** More sheets, with their content. */
  sheets: (SheetName & { xml: string })[];
};

const noExtras: SheetExtras = { hidden: new Set(), afterRows: '', sheets: [] };

/** The whole archive. Rows or texts beyond the limits of a sheet are an error that says so. */
export async function* writeXlsx(
  columns: readonly ExportColumn[],
  rows: AsyncIterable<Cells[]>,
  extras = noExtras,
): AsyncGenerator<Uint8Array> {
  const zip = new yazl.ZipFile();
  const parts = packageParts([{ name: 'Rows' }, ...extras.sheets]);
  for (const [i, { xml }] of extras.sheets.entries()) parts[sheetEntry(i + 2)] = sheetFrame.join(xml);
  for (const [name, xml] of Object.entries(parts)) zip.addBuffer(Buffer.from(xml), name);
  const sheet = Readable.from(sheetXml(columns, rows, extras), { objectMode: false });
  const output = zip.outputStream as Readable;
  zip.on('error', (error) => output.destroy(error as Error));
  sheet.on('error', (error) => output.destroy(error));
  zip.addReadStream(sheet, sheetEntry(1), { compressionLevel: 1 });
  zip.end();
  try {
    for await (const chunk of output) yield chunk as Buffer;
  } finally {
    sheet.destroy();
  }
}

async function* sheetXml(
  columns: readonly ExportColumn[],
  rows: AsyncIterable<Cells[]>,
  { hidden, afterRows }: SheetExtras,
): AsyncGenerator<Buffer> {
  const write = columns.map(({ name, dataType }) => {
    const cell = cellWriterOf(dataType);
    return (text: string, row: number) => {
      if (text.length > maxCellCharacters)
        throw fileError(
          `The cell ${name} of row ${row} has more than ${maxCellCharacters} characters, the most that a workbook holds; export as another format.`,
        );
      return cell(text);
    };
  });
  const letters = columns.map((_, i) => lettersOf(i));
  let size = 0;
  const bytes = (text: string) => {
    const encoded = Buffer.from(text);
    size += encoded.length;
    if (size > maxSheetBytes) throw fileError('The rows take more than a sheet holds; export as another format.');
    return encoded;
  };
  const header = columns.map(({ name }, i) => `<c r="${letters[i]}1" s="${cellStyles.header}"${textCell(name)}</c>`);
  const view =
    '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/></sheetView></sheetViews>';
  const widths = columns.map(
    ({ name, dataType }, i) =>
      `<col min="${i + 1}" max="${i + 1}" width="${widthOf(name, dataType)}"${hidden.has(name) ? ' hidden="1"' : ''} customWidth="1"/>`,
  );
  const cols = columns.length === 0 ? '' : `<cols>${widths.join('')}</cols>`;
  yield bytes(`${sheetFrame[0]}${view}${cols}<sheetData><row r="1">${header.join('')}</row>`);
  let number = 1;
  for await (const batch of rows) {
    let text = '';
    for (const cells of batch) {
      number += 1;
      if (number > maxRows)
        throw fileError(
          `The table has more rows than the ${maxRows - 1} that a sheet holds; export as another format.`,
        );
      text += `<row r="${number}">`;
      for (let i = 0; i < write.length; i += 1) {
        const cell = cells[i] ?? null;
        if (cell !== null) text += `<c r="${letters[i]}${number}"${write[i]?.(cell, number)}</c>`;
      }
      text += '</row>';
      if (text.length < pieceCharacters) continue;
      yield bytes(text);
      text = '';
    }
    yield bytes(text);
  }
  yield bytes(`</sheetData>${afterRows}${sheetFrame[1]}`);
}

const typical: Record<string, number> = { text: 40, json: 40, uuid: 38, datetime: 24, timestamptz: 24, string: 20 };

// In characters: the typical width of values of the type, and the name in bold.
const widthOf = (name: string, dataType: string) => Math.min(60, Math.max(typical[dataType] ?? 12, name.length + 4));
