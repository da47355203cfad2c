// Workbooks of other programs, and what an import makes of each: those of openpyxl, pandas and
// LibreOffice as saved by them (tests/formats/workbooks), those of Microsoft Excel written by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { textRow, workbookOf } from '@almanac/testkit/files/workbooks';
import { fileOf, problemOf, readAll } from '../../../tests/formats/files.ts';
import { openXlsx } from './xlsx-reader.ts';

const folder = join(import.meta.dirname, '../../../tests/formats/workbooks');
const types = { code: 'string', amount: 'decimal', ok: 'boolean', day: 'date', at: 'datetime', note: 'text' };
const unstored = (address: string) =>
  `${address} is a formula without a stored result: open the workbook in a spreadsheet program and save it again, or paste values`;
const error = (address: string, shown: string) => `${address} shows the error ${shown}: mend the cell, or empty it`;

/** The number of a row, its cells, and the reasons of its rejection. */
type Outcome = [number: number, cells: (string | null)[], ...reasons: string[]];

async function outcomes(bytes: Uint8Array, of: Record<string, string> = types): Promise<Outcome[]> {
  const file = await openXlsx(fileOf(bytes, 1000));
  const rows = await readAll(file, of);
  expect(file.rowsRead()).toBe(rows.length);
  return rows.map(({ number, cells, problems }) => [number, cells, ...problems.map(({ message }) => message)]);
}

describe('a workbook made by', () => {
  it.each<[string, Outcome[]]>([
    [
      'openpyxl',
      [
        [2, ['007', '7', 'true', '2024-02-29', '2024-02-29T12:00:00.500Z', ' two\nlines ']],
        [3, ['B', '1.1', 'false', '1900-03-01', null, null], unstored('F3')],
        [4, ['C', null, null, null, null, null], unstored('B4')],
        [5, ['D', null, null, null, null, null], error('B5', '#N/A')],
        [7, [null, null, null, null, null, null], unstored('B7')],
        [8, ['E', '0.3', null, null, '36:00:00', 'merged']],
      ],
    ],
    [
      'openpyxl-saved-by-libreoffice',
      [
        [2, ['007', '7', 'true', '2024-02-29', '2024-02-29T12:00:00.500Z', ' two\nlines ']],
        [3, ['B', '1.1', 'false', '1900-03-01', null, '2']],
        [4, ['C', '14', null, null, null, null]],
        [5, ['D', null, null, null, null, null], error('B5', '#N/A')],
        [7, [null, '0.333333333333333', null, null, null, null]],
        [8, ['E', '0.3', null, null, '36:00:00', 'merged']],
      ],
    ],
    [
      'pandas',
      [
        [2, ['007', '7.5', 'true', '2024-02-29', '2024-02-29T12:34:56.789Z', 'a']],
        [3, ['B', null, 'false', null, null, null]],
        [4, [null, '1000000000000000', null, '1999-12-31', '1999-12-31T00:00:00.000Z', null], unstored('F4')],
      ],
    ],
    [
      'libreoffice',
      [
        [2, ['007', '0.1', 'true', '2024-02-29', 'two\nlines']],
        [3, ['B', '0.3', 'true', '2024-03-01', '']],
        [4, ['C', null, null, null, null], error('B4', '#DIV/0!'), error('E4', '#N/A')],
        [6, ['D', '12345', null, null, 'ab']],
      ],
    ],
    [
      'openpyxl-1904',
      [
        [2, ['A', '2024-02-29']],
        [3, ['B', '1904-01-02']],
      ],
    ],
  ])('%s', async (name, expected) => {
    expect(await outcomes(readFileSync(join(folder, `${name}.xlsx`)))).toEqual(expected);
  });
});

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

describe("Microsoft Excel's", () => {
  const head =
    '<row r="1" spans="1:2" x14ac:dyDescent="0.25"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>';
  const shared = '<si><t>code</t></si><si><t>amount</t></si>';
  const cells = (row: number, second: string, first = `<v>${row}</v>`) =>
    `<row r="${row}" spans="1:2"><c r="A${row}">${first}</c>${second}</row>`;

  it.each<[what: string, cell: string, text: string | null, ...reasons: string[]]>([
    ['number', '<c r="B2"><v>1.5</v></c>', '1.5'],
    ['number that a calculation left inexact', '<c r="B2"><v>1.1000000000000001</v></c>', '1.1'],
    ['number of a formula', '<c r="B2"><f>A2*2</f><v>4</v></c>', '4'],
    ['first of shared formulas', '<c r="B2"><f t="shared" ref="B2:B9" si="0">A2*2</f><v>4</v></c>', '4'],
    ['further shared formula', '<c r="B2"><f t="shared" si="0"/><v>6</v></c>', '6'],
    ['formula of an array', '<c r="B2"><f t="array" ref="B2:B3">A2:A3*2</f><v>4</v></c>', '4'],
    ['text of a formula', '<c r="B2" t="str"><f>"a"&amp;"b"</f><v>ab</v></c>', 'ab'],
    ['empty text of a formula', '<c r="B2" t="str"><f>IF(A2=2,"",1)</f><v></v></c>', ''],
    ['boolean of a formula', '<c r="B2" t="b"><f>A2=2</f><v>1</v></c>', 'true'],
    ['error', '<c r="B2" t="e"><v>#N/A</v></c>', null, error('B2', '#N/A')],
    ['error of a formula', '<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>', null, error('B2', '#DIV/0!')],
    ['new kinds of values', '<c r="B2" t="e" vm="1"><v>#VALUE!</v></c>', null, error('B2', '#VALUE!')],
    ['cell with a style alone', '<c r="B2" s="1"/>', null],
    ['empty value', '<c r="B2"><v/></c>', null],
    ['inline text', '<c r="B2" t="inlineStr"><is><t xml:space="preserve"> a </t></is></c>', ' a '],
    ['inline text of runs', '<c r="B2" t="inlineStr"><is><r><rPr><b/></rPr><t>a</t></r><r><t>b</t></r></is></c>', 'ab'],
    ['day', '<c r="B2" s="1"><v>45351</v></c>', '2024-02-29'],
    ['day in a format of its own', '<c r="B2" s="2"><v>45351</v></c>', '2024-02-29'],
    ['number with the unit in its format', '<c r="B2" s="3"><v>12.5</v></c>', '12.5'],
    ['amount of money', '<c r="B2" s="4"><v>-12.5</v></c>', '-12.5'],
    ['result that no program stored', '<c r="B2"><f>A2*2</f></c>', null, unstored('B2')],
    ['result that is empty', '<c r="B2"><f>A2*2</f><v></v></c>', null, unstored('B2')],
    ['result that is empty and short', '<c r="B2" s="1"><f>A2*2</f><v/></c>', null, unstored('B2')],
    ['text that no program stored', '<c r="B2" t="str"><f>"a"&amp;"b"</f></c>', null, unstored('B2')],
    ['boolean that no program stored', '<c r="B2" t="b"><f>A2=2</f><v></v></c>', null, unstored('B2')],
    ['error that no program stored', '<c r="B2" t="e"><f>A2</f><v></v></c>', null, unstored('B2')],
  ])('%s is read correctly', async (_what, cell, text, ...reasons) => {
    const codes = [
      '[$-409]d\\-mmm\\-yyyy;@',
      '0.0&quot; days&quot;',
      '#,##0.00\\ [$€-407];[Red]\\-#,##0.00\\ [$€-407]',
    ];
    const styles =
      `<numFmts count="3">${codes.map((code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${code}"/>`).join('')}</numFmts>` +
      `<cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="14"/>${codes.map((_, i) => `<xf numFmtId="${164 + i}"/>`).join('')}</cellXfs>`;
    const bytes = await workbookOf(head + cells(2, cell), { texts: shared, styles });
    expect(await outcomes(bytes, { code: 'string', amount: 'text' })).toEqual([[2, ['2', text], ...reasons]]);
  });

  it('texts keep their runs, without phonetic readings', async () => {
    const texts =
      '<si><t>code</t></si><si><t>amount</t></si>' +
      '<si><r><t>7</t></r><r><rPr><b/><sz val="11"/><rFont val="Calibri"/></rPr><t xml:space="preserve"> days </t></r></si>' +
      '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/></si>' +
      '<si><t>a_x000D_\nb</t></si><si><t xml:space="preserve"> </t></si>';
    const rows = [2, 3, 4, 5].map((n) => cells(n, `<c r="B${n}" t="s"><v>${n}</v></c>`)).join('');
    const read = await outcomes(await workbookOf(head + rows, { texts }), { amount: 'text' });
    expect(read.map(([, all]) => all[1])).toEqual(['7 days ', '東京', 'a\r\nb', ' ']);
  });

  it('rows with only formulas without results are rejected, not skipped', async () => {
    const rows = [2, 3].map((n) => `<row r="${n}"><c r="B${n}"><f>A${n}</f><v></v></c></row>`).join('');
    expect(await outcomes(await workbookOf(head + rows, { texts: shared }))).toEqual([
      [2, [null, null], unstored('B2')],
      [3, [null, null], unstored('B3')],
    ]);
  });

  it('header must be there: a formula without a result names no column', async () => {
    const given = textRow('code').replace('</row>', '<c><f>"am"&amp;"ount"</f><v></v></c></row>');
    expect(await problemOf(outcomes(await workbookOf(given)))).toBe(`${unstored('B1')}.`);
  });

  it('sheets are found and read in any notation: prefixes, absolute parts, a wrong dimension', async () => {
    const sheet =
      `<x:worksheet xmlns:x="${main}"><x:dimension ref="A1"/><x:cols><x:col min="1" max="1" width="9" hidden="1"/></x:cols><x:sheetData>` +
      '<x:row r="1"><x:c r="A1" t="inlineStr"><x:is><x:t>code</x:t></x:is></x:c><x:c r="C1" t="inlineStr"><x:is><x:t>note</x:t></x:is></x:c></x:row>' +
      '<x:row r="4" hidden="1"><x:c r="C4"><x:v>4</x:v></x:c></x:row><x:row r="9"><x:c r="A9"><x:v>9</x:v></x:c></x:row>' +
      '</x:sheetData><x:mergeCells count="1"><x:mergeCell ref="A9:B9"/></x:mergeCells></x:worksheet>';
    const relation = (id: string, type: string, target: string) =>
      `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`;
    const relations = (...all: string[]) =>
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.join('')}</Relationships>`;
    const bytes = await workbookOf('', {
      extra: {
        '_rels/.rels': relations(relation('rId1', 'officeDocument', '/xl/workbook.xml')),
        'xl/workbook.xml': `<x:workbook xmlns:x="${main}" xmlns:rel="${office}"><x:sheets><x:sheet name="Lists" sheetId="1" state="hidden" rel:id="rId2"/><x:sheet name="Rows" sheetId="2" rel:id="rId1"/></x:sheets></x:workbook>`,
        'xl/_rels/workbook.xml.rels': relations(
          relation('rId1', 'worksheet', '/xl/worksheets/Sheet9.xml'),
          relation('rId2', 'worksheet', 'worksheets/sheet1.xml'),
        ),
        'xl/worksheets/sheet9.xml': sheet,
      },
    });
    expect(await outcomes(bytes)).toEqual([
      [4, [null, null, '4']],
      [9, ['9', null, null]],
    ]);
  });
});
