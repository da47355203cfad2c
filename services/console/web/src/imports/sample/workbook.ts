// The first rows of the first visible sheet of a workbook (XLSX), as people see them.

import { isDateFormat, serialDate } from './workbook-dates.ts';
import { cellAddress, elements, textOf } from './xml.ts';
import { readEntry, readZip, type ZipEntry } from './zip.ts';

const maxRows = 200;
const maxSheetBytes = 1_000_000;
// The texts of the first rows are mostly the first ones.
const maxTextBytes = 8_000_000;

/** The rows, from the first one that has a value. Empty for a workbook that can't be read here. */
export async function readWorkbook(file: Blob): Promise<string[][]> {
  const entries = await readZip(file);
  const read = (name: string, maxBytes = maxTextBytes) => readPart(file, entries, name, maxBytes);
  const workbook = await read('xl/workbook.xml');
  const sheet = firstVisibleSheet(workbook, await read('xl/_rels/workbook.xml.rels'));
  if (sheet === undefined) return [];
  const texts = elements(await read('xl/sharedStrings.xml'), 'si').map(({ content }) => textOf(content));
  const isDate = dateStyles(await read('xl/styles.xml'));
  const is1904 = elements(workbook, 'workbookPr').some(({ attributes }) =>
    /^(1|true)$/.test(attributes.date1904 ?? ''),
  );
  return readRows(await read(sheet, maxSheetBytes), { texts, isDate, is1904 });
}

async function readPart(file: Blob, entries: Map<string, ZipEntry>, name: string, maxBytes: number): Promise<string> {
  const entry = entries.get(name);
  return entry === undefined ? '' : readEntry(file, entry, maxBytes);
}

function firstVisibleSheet(workbook: string, relations: string): string | undefined {
  const sheet = elements(workbook, 'sheet').find(({ attributes }) => (attributes.state ?? 'visible') === 'visible');
  const relation = elements(relations, 'Relationship').find(({ attributes }) => attributes.Id === sheet?.attributes.id);
  const target = relation?.attributes.Target;
  if (target === undefined) return undefined;
  return target.startsWith('/') ? target.slice(1) : `xl/${target}`;
}

// Which styles of cells are those of dates.
function dateStyles(styles: string): boolean[] {
  const own = new Map(
    elements(styles, 'numFmt').map(({ attributes }) => [Number(attributes.numFmtId), attributes.formatCode ?? '']),
  );
  const cells = elements(styles, 'cellXfs')[0]?.content ?? '';
  return elements(cells, 'xf').map(({ attributes }) => {
    const id = Number(attributes.numFmtId ?? 0);
    return isDateFormat(id, own.get(id));
  });
}

type Book = { texts: string[]; isDate: boolean[]; is1904: boolean };

/** The rows of a sheet's XML; a row that its end cuts is left out. */
export function readRows(sheet: string, book: Book): string[][] {
  const rows: string[][] = [];
  for (const { content } of elements(sheet, 'row', maxRows)) {
    const row: string[] = [];
    for (const { attributes, content: cell } of elements(content, 'c')) {
      const place = attributes.r === undefined ? row.length : cellAddress(attributes.r);
      while (row.length < place) row.push('');
      row[place] = cellText(attributes, cell, book);
    }
    if (rows.length > 0 || row.some((cell) => cell !== '')) rows.push(row);
  }
  const width = Math.max(0, ...rows.map((row) => row.length));
  return rows.map((row) => [...row, ...Array<string>(width - row.length).fill('')]);
}

function cellText({ t: type, s: style }: Record<string, string>, content: string, book: Book): string {
  if (type === 'inlineStr') return textOf(content);
  const value = textOf(elements(content, 'v')[0]?.content ?? '', true);
  if (type === 's') return book.texts[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'true' : 'false';
  const isNumber = type === undefined || type === 'n';
  if (value !== '' && isNumber && book.isDate[Number(style ?? -1)]) return serialDate(Number(value), book.is1904);
  return value;
}
