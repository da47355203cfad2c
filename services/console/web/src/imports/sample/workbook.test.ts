import { deflateRawSync } from 'node:zlib';
import { readRows, readWorkbook } from './workbook.ts';
import { isDateFormat, serialDate } from './workbook-dates.ts';
import { cellAddress, elements, textOf } from './xml.ts';

const book = { texts: ['code', 'Straße & Co'], isDate: [false, true], is1904: false };

describe('the rows of a sheet', () => {
  it('have texts, numbers, truth values and dates as people see them', () => {
    const cells = '<c r="A1" t="s"><v>1</v></c><c r="B1"><v>1.50</v></c><c r="C1" t="b"><v>1</v></c>';
    const date = '<c r="E1" s="1"><v>45412</v></c><c r="F1" t="inlineStr"><is><t>in &lt;line&gt;</t></is></c>';
    expect(readRows(`<sheetData><row r="1">${cells}${date}</row></sheetData>`, book)).toEqual([
      ['Straße & Co', '1.50', 'true', '', '2024-04-30', 'in <line>'],
    ]);
  });

  it('begin with the first row that has a value, and leave out one that is cut', () => {
    const sheet =
      '<x:row r="1"><x:c r="A1"/></x:row><x:row r="2"><x:c r="A2" t="s"><x:v>0</x:v></x:c></x:row><x:row r="3"><x:c';
    expect(readRows(sheet, book)).toEqual([['code']]);
  });
});

describe('dates of workbooks', () => {
  it('are known by their format', () => {
    expect([14, 22, 45].map((id) => isDateFormat(id, undefined))).toEqual([true, true, true]);
    expect([0, 2, 49].map((id) => isDateFormat(id, undefined))).toEqual([false, false, false]);
    expect(isDateFormat(164, 'dd.mm.yyyy')).toBe(true);
    expect(isDateFormat(164, '0.00" days"')).toBe(false);
    expect(isDateFormat(164, '[Red]#,##0')).toBe(false);
  });

  it('are counted in days, with the 29 February 1900 that Excel has', () => {
    expect([1, 59, 61, 45_412.5].map((days) => serialDate(days, false))).toEqual([
      '1900-01-01',
      '1900-02-28',
      '1900-03-01',
      '2024-04-30T12:00:00',
    ]);
    expect(serialDate(0, true)).toBe('1904-01-01');
  });
});

describe('XML', () => {
  it('has elements with any prefix, and their attributes without one', () => {
    expect(elements('<a:sheet name="A &amp; B" r:id=\'rId1\'/><sheets><sheet/></sheets>', 'sheet')).toEqual([
      { attributes: { name: 'A & B', id: 'rId1' }, content: '' },
      { attributes: {}, content: '' },
    ]);
  });

  it('has texts of runs, without how they are pronounced', () => {
    expect(textOf('<r><t>Tō</t></r><r><t xml:space="preserve"> kyō</t></r><rPh><t>x</t></rPh>')).toBe('Tō kyō');
    expect(textOf('1&#x20ac;&#8364;', true)).toBe('1€€');
  });

  it('names columns by letters', () => {
    expect(['A1', 'Z9', 'AA1', 'AB7'].map(cellAddress)).toEqual([0, 25, 26, 27]);
  });
});

it('a workbook is read from its packed parts', async () => {
  const parts = {
    'xl/workbook.xml':
      '<sheets><sheet name="x" state="hidden" r:id="rId1"/><sheet name="y" sheetId="2" r:id="rId2"/></sheets>',
    'xl/_rels/workbook.xml.rels':
      '<Relationship Id="rId1" Target="worksheets/a.xml"/><Relationship Id="rId2" Target="/xl/worksheets/b.xml"/>',
    'xl/sharedStrings.xml': '<sst><si><t>code</t></si><si><t>DE</t></si></sst>',
    'xl/worksheets/b.xml': '<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row>',
  };
  expect(await readWorkbook(zipOf(parts))).toEqual([['code'], ['DE']]);
});

// A zip file without checksums, which are not read.
function zipOf(parts: Record<string, string>): Blob {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(parts)) {
    const packed = new Uint8Array(deflateRawSync(text));
    const label = new TextEncoder().encode(name);
    const head = header(30, { 0: 0x04034b50, 26: label.length });
    directory.push(header(46, { 0: 0x02014b50, 10: 8, 20: packed.length, 28: label.length, 42: offset }), label);
    pieces.push(head, label, packed);
    offset += head.length + label.length + packed.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  return new Blob([...pieces, ...directory, header(22, { 0: 0x06054b50, 12: size, 16: offset })]);
}

function header(length: number, values: Record<number, number>): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(length));
  for (const [at, value] of Object.entries(values)) {
    if (length - Number(at) >= 4 && ![10, 26, 28].includes(Number(at))) view.setUint32(Number(at), value, true);
    else view.setUint16(Number(at), value, true);
  }
  return new Uint8Array(view.buffer);
}
