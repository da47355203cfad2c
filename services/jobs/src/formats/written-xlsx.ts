// Exports as XLSX workbooks of one sheet, as a stream. What a spreadsheet would round stays text: long numbers, times of day.
import { Readable } from 'node:stream';
import yazl from 'yazl';
import { fileError } from '../csv/file-error.ts';
import { lettersOf } from './cell-addresses.ts';
import type { Cells } from './copied-rows.ts';
import type { WrittenColumn } from './written-text.ts';

const maxRows = 1_048_576;
const maxCellCharacters = 32_767;
// A batch of rows takes three times its bytes as XML: what is made of it at once is soon garbage.
const pieceCharacters = 64 * 1024;
const maxSheetBytes = 0xf000_0000; // archives have no room for more without a form that not all programs read

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const contentType = (part: string, kind: string) =>
  `<Override PartName="/xl/${part}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${kind}+xml"/>`;

// In the order of ECMA-376, with all that it wants: openpyxl, and hence pandas, refuses a workbook without
// the two fills. The second and third of `cellXfs` show dates and moments.
const xf = 'fontId="0" fillId="0" borderId="0"';
const styles = [
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd hh:mm:ss.000"/></numFmts>',
  '<fonts count="1"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts>',
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>',
  `<cellStyleXfs count="1"><xf numFmtId="0" ${xf}/></cellStyleXfs>`,
  `<cellXfs count="3"><xf numFmtId="0" ${xf} xfId="0"/>${[164, 165].map((id) => `<xf numFmtId="${id}" ${xf} xfId="0" applyNumberFormat="1"/>`).join('')}</cellXfs>`,
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>',
].join('');

const parts = {
  '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${contentType('workbook.xml', 'sheet.main')}${contentType('styles.xml', 'styles')}${contentType('worksheets/sheet1.xml', 'worksheet')}</Types>`,
  '_rels/.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relations}"><bookViews><workbookView/></bookViews><sheets><sheet name="Rows" sheetId="1" r:id="r1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': `<styleSheet xmlns="${main}">${styles}</styleSheet>`,
};

/** The whole archive; rows or texts beyond what a sheet holds are an error that says so. */
export async function* writeXlsx(
  columns: readonly WrittenColumn[],
  rows: AsyncIterable<Cells[]>,
): AsyncGenerator<Uint8Array> {
  const zip = new yazl.ZipFile();
  for (const [name, xml] of Object.entries(parts)) zip.addBuffer(Buffer.from(declaration + xml), name);
  const sheet = Readable.from(sheetXml(columns, rows), { objectMode: false });
  const output = zip.outputStream as Readable;
  zip.on('error', (error) => output.destroy(error as Error));
  sheet.on('error', (error) => output.destroy(error));
  zip.addReadStream(sheet, 'xl/worksheets/sheet1.xml', { compressionLevel: 1 });
  zip.end();
  try {
    for await (const chunk of output) yield chunk as Buffer;
  } finally {
    sheet.destroy();
  }
}

async function* sheetXml(columns: readonly WrittenColumn[], rows: AsyncIterable<Cells[]>): AsyncGenerator<Buffer> {
  const write = columns.map(({ name, dataType }) => {
    const cell = cellWriters[dataType] ?? textCell;
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
  const header = columns.map(({ name }) => textCell(name)).map((cell, i) => `<c r="${letters[i]}1"${cell}</c>`);
  yield bytes(
    `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/></sheetView></sheetViews><sheetData><row r="1">${header.join('')}</row>`,
  );
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
  yield bytes('</sheetData></worksheet>');
}

/** What stands after `<c r="A1"`: the other attributes, and the value. */
type CellWriter = (text: string) => string;

const textCell: CellWriter = (text) => ` t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is>`;
const numberCell: CellWriter = (text) => `><v>${text}</v>`;

// Spreadsheets keep fifteen digits of a number.
const exactNumberCell: CellWriter = (text) =>
  text.replace(/^-?0*|\./g, '').length <= 15 ? numberCell(text) : textCell(text);

// Days before March 1900 have other numbers in other programs.
const dayCell =
  (style: number): CellWriter =>
  (text) => {
    const days = Date.parse(text) / 86_400_000 + 25_569;
    return days >= 61 ? ` s="${style}"><v>${days}</v>` : textCell(text);
  };

const cellWriters: Record<string, CellWriter> = {
  smallint: numberCell,
  integer: numberCell,
  bigint: exactNumberCell,
  decimal: exactNumberCell,
  real: numberCell,
  double: numberCell,
  boolean: (text) => ` t="b"><v>${text === 'true' ? 1 : 0}</v>`,
  date: dayCell(1),
  datetime: dayCell(2),
  timestamptz: dayCell(2),
};

// What XML can't hold, or would change, stands as _xHHHH_; so does what only looks like that.
const escaped = (text: string) =>
  text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are meant
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, (character) => {
      const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      return `_x${code}_`;
    })
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');
