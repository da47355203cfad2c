import { textRow, workbookOf, zipOf } from '@almanac/testkit/files/workbooks';
import { fileOf, problemOf, readAll } from '../../../tests/formats/files.ts';
import { openXlsx } from './xlsx-reader.ts';

const open = async (workbook: Promise<Buffer> | Buffer, piece?: number) => openXlsx(fileOf(await workbook, piece));

describe('a workbook', () => {
  const texts =
    '<si><t>code</t></si><si><t xml:space="preserve"> two  spaces </t></si><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>reading</t></rPh></si>' +
    '<si><t>a_x000D__x005F_x0041_</t></si><si><t/></si>';

  it.each([1, 7, 1000, 100_000])(
    'gives texts exactly and rows by their number, in pieces of %d bytes',
    async (piece) => {
      const rows =
        '<row r="3"><c r="A3" t="s"><v>0</v></c><c r="C3" t="inlineStr"><is><t>name</t></is></c></row>' +
        '<row r="5" spans="1:3"><c r="A5" t="s"><v>1</v></c><c r="B5" s="0"/><c r="C5" t="s"><v>2</v></c></row>' +
        '<row r="6"><c r="A6" s="1"/></row>' +
        '<row r="9"><c r="A9" t="str"><f>"x"&amp;"y"</f><v>&lt;xy&gt;</v></c><c r="C9" t="s"><v>3</v></c></row>' +
        '<row><c t="s"><v>4</v></c><c r="C10" t="inlineStr"><is><t><![CDATA[<b>]]></t></is></c></row>';
      const file = await open(workbookOf(rows, { texts }), piece);
      expect(file.header).toEqual(['code', '', 'name']);
      expect(await readAll(file, { code: 'string', name: 'text' })).toEqual([
        { number: 5, cells: [' two  spaces ', null, 'rich text'], problems: [] },
        { number: 9, cells: ['<xy>', null, 'a\r_x0041_'], problems: [] },
        { number: 10, cells: ['', null, '<b>'], problems: [] },
      ]);
      expect(file.rowsRead()).toBe(3);
    },
  );

  it('gives numbers with their digits, booleans, and errors as problems', async () => {
    const numbers = [
      '7',
      '12345678901234567890',
      '1.1000000000000001',
      '5.0',
      '-1.5E-7',
      '1E+3',
      '007',
      '0.30000000000000004',
    ];
    const rows = numbers.map((n) => `<row><c><v>${n}</v></c></row>`).join('');
    const others =
      '<row><c t="b"><v>1</v></c></row><row><c t="b"><v>0</v></c></row><row><c t="e"><v>#N/A</v></c></row><row><c><f>A1+1</f></c></row>';
    const file = await open(workbookOf(textRow('n') + rows + others));
    const read = await readAll(file, { n: 'decimal' });
    expect(read.map(({ cells }) => cells[0])).toEqual([
      ...['7', '12345678901234567890', '1.1', '5', '-0.00000015', '1000', '007', '0.30000000000000004'],
      ...['true', 'false', null, null],
    ]);
    expect(read.slice(-2).map(({ problems }) => problems)).toEqual([
      [{ column: 'n', value: '#N/A', message: 'A12 shows the error #N/A: mend the cell, or empty it' }],
      [
        {
          column: 'n',
          value: '',
          message:
            'A13 is a formula without a stored result: open the workbook in a spreadsheet program and save it again, or paste values',
        },
      ],
    ]);
  });

  it('gives dates by the format of their cells, in the form that the column reads', async () => {
    const codes = [
      'yyyy\\-mm\\-dd',
      'dd/mm/yyyy hh:mm',
      '[h]:mm:ss',
      '0.00 "days"',
      '[Red]General',
      'mmm yy',
      '[$-409]h:mm AM/PM',
    ];
    const styles =
      `<numFmts>${codes.map((code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${code.replaceAll('"', '&quot;')}"/>`).join('')}</numFmts>` +
      `<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>${codes.map((_, i) => `<xf numFmtId="${164 + i}"/>`).join('')}</cellXfs>`;
    const cell = (style: number, value: number | string) => `<c s="${style}"><v>${value}</v></c>`;
    const row = (style: number, value: number | string) => `<row>${cell(style, value).repeat(5)}</row>`;
    const rows = [
      row(1, 45351), // 2024-02-29
      row(3, 45351.520833333336), // 12:30
      row(4, 0.75),
      row(0, 45351),
      row(5, 45351),
      row(6, 45351),
      row(7, 45352),
      row(8, 0.25),
      row(2, 1),
      row(2, 60), // the 29th of February 1900
      row(2, 2958465.999),
      row(2, 2958466),
      row(2, -1),
    ];
    const workbook = workbookOf(textRow('d', 't', 'dt', 's', 'n') + rows.join(''), { styles });
    const read = await readAll(await open(workbook), {
      d: 'date',
      t: 'time',
      dt: 'datetime',
      s: 'string',
      n: 'integer',
    });
    const instant = (day: string, clock = '00:00:00.000') => `${day}T${clock}Z`;
    const half = instant('2024-02-29', '12:30:00.000');
    const none = [null, null, null, null, null];
    expect(read.map(({ cells }) => cells)).toEqual([
      ['2024-02-29', '2024-02-29', instant('2024-02-29'), '2024-02-29', '2024-02-29'],
      [half, half, half, half, half],
      ['18:00:00', '18:00:00', instant('1899-12-31', '18:00:00.000'), '18:00:00', '18:00:00'],
      ['45351', '45351', '45351', '45351', '45351'],
      ['45351', '45351', '45351', '45351', '45351'],
      ['45351', '45351', '45351', '45351', '45351'],
      ['2024-03-01', '2024-03-01', instant('2024-03-01'), '2024-03-01', '2024-03-01'],
      ['06:00:00', '06:00:00', instant('1899-12-31', '06:00:00.000'), '06:00:00', '06:00:00'],
      ['1900-01-01', '1900-01-01', instant('1900-01-01'), '1900-01-01', '1900-01-01'],
      none,
      Array(5).fill(instant('9999-12-31', '23:58:33.600')),
      none,
      none,
    ]);
    expect(read[9]?.problems[0]).toEqual({
      column: 'd',
      value: '60',
      message: 'A11 shows a date that is not in the calendar',
    });
  });

  it('gives invalid booleans, numbers and shared texts as they are or as problems, never as other values', async () => {
    const boolean = (text: string) => `<row><c t="b"><v>${text}</v></c></row>`;
    const booleans = ['true', ' 1 ', '0', ' false\n', '', '2', 'yes', 'TRUE', '1.0'];
    const read = await readAll(await open(workbookOf(textRow('b') + booleans.map(boolean).join(''))), { b: 'boolean' });
    expect(read.map(({ cells }) => cells[0])).toEqual(['true', 'true', 'false', 'false', null, null, null, null, null]);
    expect(read[5]?.problems).toEqual([
      { column: 'b', value: '2', message: 'A7 is a boolean that is neither true nor false' },
    ]);
    expect(read.slice(4).every(({ problems }) => problems.length === 1)).toBe(true);
    const numbers = [' 7 ', ' ', '0x10', '1e', '+.5E1', 'Infinity'].map(
      (text) => `<row><c><v>${text}</v></c><c><v>1</v></c></row>`,
    );
    const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
    const dates = ['', '0x10', '1 2'].map((text) => `<row><c s="1"><v>${text}</v></c><c><v>1</v></c></row>`);
    const rows = textRow('n', 'x') + numbers.join('') + dates.join('');
    const others = await readAll(await open(workbookOf(rows, { styles })), { n: 'date' });
    expect(others.map(({ cells, problems }) => [cells[0], problems.length])).toEqual([
      ...[
        ['7', 0],
        [null, 0],
        ['0x10', 0],
        ['1e', 0],
        ['5', 0],
        ['Infinity', 0],
      ],
      ...[
        [null, 0],
        [null, 1],
        [null, 1],
      ],
    ]);
    for (const index of ['', ' ', '0x0', '0.0', '-0', '1e0'])
      expect(
        await problemOf(open(workbookOf(`<row><c t="s"><v>${index}</v></c></row>`, { texts: '<si><t>a</t></si>' }))),
      ).toContain("a text that the workbook doesn't have");
  });

  it('gives durations of a day or more as shown, which are neither dates nor times of day', async () => {
    const codes = ['[h]:mm', '[mm]:ss', '[ss].00', '[HH]:mm:ss', 'h:mm', '[Red]h:mm'];
    const styles =
      `<numFmts>${codes.map((code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${code}"/>`).join('')}</numFmts>` +
      `<cellXfs><xf numFmtId="46"/>${codes.map((_, i) => `<xf numFmtId="${164 + i}"/>`).join('')}</cellXfs>`;
    const columns = ['s', 'd', 't', 'dt'];
    const row = (style: number, value: number | string) =>
      `<row>${columns.map(() => `<c s="${style}"><v>${value}</v></c>`).join('')}</row>`;
    const cells = [row(0, 1.5), row(1, 1.5), row(2, 60.5), row(3, 1.0000057870370371), row(4, 0.9999999999999)];
    const moments = [row(5, 1.5), row(6, 1.5), row(1, 0.75), row(1, -1.5), row(1, '1e300')];
    const file = await open(workbookOf(textRow(...columns) + [...cells, ...moments].join(''), { styles }));
    const read = await readAll(file, { s: 'string', d: 'date', t: 'time', dt: 'datetime' });
    const noon = '1900-01-01T12:00:00.000Z';
    expect(read.map((each) => each.cells)).toEqual([
      ...['36:00:00', '36:00:00', '1452:00:00', '24:00:00.500', '24:00:00'].map((text) => Array(4).fill(text)),
      ...[Array(4).fill(noon), Array(4).fill(noon)],
      ['18:00:00', '18:00:00', '18:00:00', '1899-12-31T18:00:00.000Z'],
      ...[Array(4).fill(null), Array(4).fill(null)],
    ]);
    expect(read.map(({ problems }) => problems.length)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 4, 4]);
  });

  it('gives real dates in a form that matches no date format of a mapping, where there is one', async () => {
    const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="18"/></cellXfs>';
    const both = (cell: string) => `<row>${cell}${cell}${cell}</row>`;
    const rows = [
      both('<c s="1"><v>45325</v></c>'),
      both('<c s="1"><v>45325.5</v></c>'),
      both('<c t="d"><v>2024-02-03</v></c>'),
      both('<c t="d"><v>2024-02-03T07:05</v></c>'),
      both('<c s="2"><v>0</v></c>'),
      both('<c><v>20240203</v></c>'),
      textRow('2024-02-03', '2024-02-03', '2024-02-03'),
    ];
    const file = await open(workbookOf(textRow('d', 'dt', 'plain') + rows.join(''), { styles }));
    const read = await readAll(file, { d: 'date', dt: 'datetime', plain: 'date' }, ['d', 'dt']);
    const day = '2024-02-03T00:00:00.000Z';
    const noon = '2024-02-03T12:00:00.000Z';
    expect(read.map(({ cells }) => cells)).toEqual([
      [day, day, '2024-02-03'],
      [noon, noon, noon],
      [day, day, '2024-02-03'],
      ['2024-02-03T07:05Z', '2024-02-03T07:05Z', '2024-02-03T07:05'],
      ['00:00:00', '1899-12-31T00:00:00.000Z', '00:00:00'],
      ['20240203', '20240203', '20240203'],
      ['2024-02-03', '2024-02-03', '2024-02-03'],
    ]);
  });

  it('counts days from 1904 when it says so, and reads dates in ISO form', async () => {
    const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
    const rows = '<row><c s="1"><v>43889</v></c></row><row><c t="d"><v>2024-02-29T00:00:00</v></c></row>';
    const workbook = workbookOf(textRow('d') + rows, { styles, workbookPr: '<workbookPr date1904="1"/>' });
    const read = await readAll(await open(workbook), { d: 'date' });
    expect(read.map(({ cells }) => cells[0])).toEqual(['2024-02-29', '2024-02-29']);
  });

  it('is read from its first visible sheet', async () => {
    const sheets = '<sheet name="h" sheetId="1" state="hidden" r:id="r1"/><sheet name="b" sheetId="2" r:id="r4"/>';
    const other = `<x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>seen</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>`;
    const workbook = workbookOf(textRow('hidden'), { sheets, extra: { 'xl/worksheets/sheet2.xml': other } });
    expect((await open(workbook)).header).toEqual(['seen']);
  });

  it('refuses rows with values beyond the header', async () => {
    const read = await readAll(await open(workbookOf(textRow('a', 'b') + textRow('1', '2', '3') + textRow('4'))), {
      a: 'text',
    });
    expect(read.map(({ cells, problems }) => [cells, problems.map(({ message }) => message)])).toEqual([
      [['1', '2'], ["The row has a value in column 3, which the header doesn't name."]],
      [['4', null], []],
    ]);
  });

  const deep = '<a>'.repeat(100) + '</a>'.repeat(100);
  it.each([
    ['nothing in it', workbookOf(''), 'The first sheet of the workbook is empty'],
    ['another archive', zipOf({ 'a.txt': 'x' }), 'not an XLSX workbook'],
    ['a damaged end', workbookOf(textRow('a')).then((bytes) => bytes.subarray(0, -30)), 'damaged or cut short'],
    [
      'a damaged list of contents',
      workbookOf(textRow('a')).then((bytes) => bytes.fill(0, bytes.length - 200, bytes.length - 100)),
      'damaged or cut short',
    ],
    ['XML that breaks off', workbookOf('<row><c><v>1</v>'), 'not well-formed XML'],
    ['XML that is too deep', workbookOf(deep), 'not well-formed XML'],
    ['entities', workbookOf('<row><c><v>&lol;</v></c></row>'), 'not well-formed XML'],
    [
      'a text that is not there',
      workbookOf('<row><c t="s"><v>5</v></c></row>'),
      "a text that the workbook doesn't have",
    ],
    ['too many columns', workbookOf(textRow(...Array(1001).fill('x'))), 'at most 1000 are read'],
    ['a column beyond the last', workbookOf('<row><c r="XFE1"><v>1</v></c></row>'), 'more than 16384 columns'],
    ['endless text', workbookOf(textRow('x'.repeat(5_000_000))), 'a text of more than'],
    [
      'too many entries',
      zipOf(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`${i}`, '']))),
      '1001 entries',
    ],
    [
      'no sheet',
      workbookOf('', { sheets: '<sheet name="h" state="veryHidden" r:id="r1"/>' }),
      'no sheet that can be read',
    ],
  ])('with %s is refused', async (_what, workbook, problem) => {
    expect(await problemOf(open(workbook, 100_000))).toContain(problem);
  });

  it.each(['xl/workbook.xml', 'xl/styles.xml', 'xl/sharedStrings.xml', 'xl/worksheets/sheet1.xml'])(
    'with a part %s that contradicts its checksum is refused',
    async (part) => {
      const styles = '<cellXfs><xf numFmtId="0"/></cellXfs>';
      const given = { styles, texts: '<si><t>a</t></si>' };
      const bytes = await workbookOf('<row><c t="s"><v>0</v></c></row>'.repeat(2), given);
      expect(await problemOf(open(bytes).then((file) => readAll(file, { a: 'text' })))).toBe('none');
      // Its entry in the list of contents: the sum is 30 bytes before the name.
      const sum = bytes.lastIndexOf(part) - 30;
      bytes.writeUInt32LE((bytes.readUInt32LE(sum) ^ 1) >>> 0, sum);
      expect(await problemOf(open(bytes).then((file) => readAll(file, { a: 'text' })))).toBe(
        'The workbook is damaged or cut short.',
      );
    },
  );

  it('that declares a document type is refused', async () => {
    const bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><workbook/>';
    const workbook = workbookOf('', { extra: { 'xl/workbook.xml': bomb } });
    expect(await problemOf(open(workbook))).toContain('declares a document type');
  });

  it('that unpacks to far more than was sent is stopped early', async () => {
    const rows = textRow('a') + `<row><c t="inlineStr"><is><t>${'x'.repeat(1000)}</t></is></c></row>`.repeat(80_000);
    const file = await open(workbookOf(rows), 100_000);
    expect(await problemOf(readAll(file, { a: 'text' }))).toContain('more than 200 times its size');
  });
});
