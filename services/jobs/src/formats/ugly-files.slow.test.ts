// Files as people and programs really send them, with the result of each: rows as data receives
// them, or the error.
import { gzipSync } from 'node:zlib';
import { unreadableFiles } from '@almanac/testkit/files/unreadable-files';
import { textRow, workbookOf } from '@almanac/testkit/files/workbooks';
import { parse } from 'csv-parse/sync';
import { fileOf, problemOf, readAll } from '../../tests/formats/files.ts';
import { type OpenOptions, openTableFile } from './open-file.ts';
import type { FileFormat } from './table-file/file-format.ts';

const names = ['code', 'name'];
const types = { code: 'string', name: 'text' };

async function read(content: string | Uint8Array, format?: FileFormat, style: OpenOptions['style'] = {}) {
  const wanted = { format, style, width: 2, expected: new Set(names), columns: names };
  const file = await openTableFile(fileOf(content, 64 * 1024), wanted);
  try {
    if (file.layout.numbered) return { file, rows: (await readAll(file, types)).map(({ cells }) => cells) };
    const parts: Uint8Array[] = [];
    for await (const part of file.rows([])) parts.push(part);
    return {
      file,
      rows: parse(Buffer.concat(parts), {
        delimiter: file.layout.delimiter,
        quote: file.layout.quote,
        escape: file.layout.quote,
      }) as string[][],
    };
  } finally {
    await file.close();
  }
}

const utf16le = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => utf16le(text).swap16();
const windows = (text: string) => Buffer.from(text, 'latin1');
const large = 'x'.repeat(10 * 1024 * 1024);

describe('an ugly but readable file:', () => {
  it.each<[string, string | Uint8Array, FileFormat, (string | null)[][]]>([
    ['CSV with a byte order mark', '\ufeffcode,name\nA,1\n', 'csv', [['A', '1']]],
    [
      'mixed line ends and blank lines',
      'code,name\r\nA,1\n\r\nB,2\rC,3',
      'csv',
      [
        ['A', '1'],
        ['B', '2'],
        ['C', '3'],
      ],
    ],
    ['quotes around everything', '"code","name"\n"A","say ""hi"""\n', 'csv', [['A', 'say "hi"']]],
    ['a line end in a cell', 'code,name\nA,"1\r\n2"\n', 'csv', [['A', '1\r\n2']]],
    ['semicolons', 'code;name\nA;1,5\n', 'csv', [['A', '1,5']]],
    ['tabs', 'code\tname\nA\t1\n', 'tsv', [['A', '1']]],
    ['what spreadsheets say of their separator', 'sep=;\r\ncode;name\r\nA;1\r\n', 'csv', [['A', '1']]],
    ['a cell of 10 MB', `code,name\nA,${large}\n`, 'csv', [['A', large]]],
    [
      'formulas',
      'code,name\nA,=1+1\nB,@x\n',
      'csv',
      [
        ['A', '=1+1'],
        ['B', '@x'],
      ],
    ],
    [
      'UTF-16 with its mark',
      Buffer.concat([Buffer.from([0xfe, 0xff]), utf16be('code,name\nA,Zürich\n')]),
      'csv',
      [['A', 'Zürich']],
    ],
    ['UTF-16 of Windows with its mark', utf16le('\ufeffcode;name\r\nA;Zürich\r\n'), 'csv', [['A', 'Zürich']]],
    ['UTF-16 of Windows without its mark', utf16le('code\tname\r\nA\t€\r\n'), 'tsv', [['A', '€']]],
    ['UTF-16 without its mark', utf16be('code,name\nA,€\n'), 'csv', [['A', '€']]],
    ['JSON in UTF-16', utf16le('[{"code":"Ä"}]'), 'json', [['Ä']]],
    ['pipes', 'code|name\nA|x,y;z\n', 'csv', [['A', 'x,y;z']]],
    [
      'single quotes around everything',
      "'code','name'\n'A','it''s, \n\"so\"'\nB,x\n",
      'csv',
      [
        ['A', 'it\'s, \n"so"'],
        ['B', 'x'],
      ],
    ],
    ['apostrophes that are no quotes', "code,name,'s\nA,'n,o'\n", 'csv', [['A', "'n", "o'"]]],
    ['names whose accents stand apart', 'code;Na\u0308me,x;name\nA;1;2\n', 'csv', [['A', '1', '2']]],
    ['Windows-1252', windows('code,name\nA,Z\xfcrich \x80\n'), 'csv', [['A', 'Zürich €']]],
    ['gzip', gzipSync('code,name\nA,1\n'), 'csv', [['A', '1']]],
    [
      'several gzip files in one',
      Buffer.concat([gzipSync('code,name\nA,1\n'), gzipSync('B,2\n')]),
      'csv',
      [
        ['A', '1'],
        ['B', '2'],
      ],
    ],
    [
      'several gzip files in one, with zeros behind the last',
      Buffer.concat([gzipSync('code,name\nA,1\n'), gzipSync('B,2\n'), Buffer.alloc(100_000)]),
      'csv',
      [
        ['A', '1'],
        ['B', '2'],
      ],
    ],
    [
      'quotes in all of their places',
      'code,name\n"","a ""b"", c"\n"""","""x"""\r\n,""\n"A",B',
      'csv',
      [
        ['', 'a "b", c'],
        ['"', '"x"'],
        ['', ''],
        ['A', 'B'],
      ],
    ],
    ['double quotes between single ones', `'code','name','5"'\nA,"x","\n`, 'csv', [['A', '"x"', '"']]],
    [
      'Windows-1252 with marks behind letters beyond ASCII',
      windows('code,name\nd\xfc,\x84Spa\xdf\x93 \xab caf\xe9\xa0\xbb NESCAF\xc9\xae \xd8\xbd\n'),
      'csv',
      [['dü', '„Spaß“ « café\u00a0» NESCAFÉ® Ø½']],
    ],
    ['JSON with a byte order mark', '\ufeff [\n{"code":"A"}]', 'json', [['A']]],
    ['lines of JSON with blank ones', '\n{"code":"A","name":null}\r\n\r\n', 'ndjson', [['A', null]]],
    ['a header that looks like JSON', '[code],{name}\nA,1\n', 'csv', [['A', '1']]],
  ])('%s', async (_what, content, format, rows) => {
    const { file, rows: found } = await read(content);
    expect([file.format, found]).toEqual([format, rows]);
  });

  it.each<[string, string | Uint8Array, OpenOptions['style'], string[], string[][]]>([
    [
      'without a header',
      '\r\n7;1,5\r\n08;2,5',
      { hasHeader: false, delimiter: ';' },
      ['1', '2'],
      [
        ['7', '1,5'],
        ['08', '2,5'],
      ],
    ],
    [
      'without a header, with a line end in its first row',
      'A,"1\n2"\nB,3\n',
      { hasHeader: false },
      ['1', '2'],
      [
        ['A', '1\n2'],
        ['B', '3'],
      ],
    ],
    [
      'of inches and feet',
      'code,name\nA,5"\nB,6\' 2"\n',
      { quote: 'none' },
      names,
      [
        ['A', '5"'],
        ['B', '6\' 2"'],
      ],
    ],
    ['of one line, where nothing is quoted', 'code,none', { quote: 'none' }, ['code', 'none'], []],
    ['with single quotes where it needs them', "code,name\nA,'1,5'\n", { quote: "'" }, names, [['A', '1,5']]],
    [
      'of Windows-1252 that could be UTF-8',
      windows('code,name\nA,\xc3\xbc\n'),
      { encoding: 'windows-1252' },
      names,
      [['A', 'Ã¼']],
    ],
    ['of UTF-8 that is known to be', 'code,name\nA,Ü\n', { encoding: 'utf-8' }, names, [['A', 'Ü']]],
    [
      'of two encodings that is to be read as one',
      windows('code,name\nM\xc3,Z\xc3\xbcrich\n'),
      { encoding: 'windows-1252' },
      names,
      [['MÃ', 'ZÃ¼rich']],
    ],
    [
      'of UTF-16 that begins far away',
      utf16be('ключ,code,name\nA,1,2\n'),
      { encoding: 'utf-16be' },
      ['ключ', ...names],
      [['A', '1', '2']],
    ],
    ['with a delimiter in its names', 'code;a,name\n1;2\n', { delimiter: ';' }, ['code', 'a,name'], [['1', '2']]],
  ])('CSV %s, when that is stated', async (_what, content, style, header, rows) => {
    const { file, rows: found } = await read(content, undefined, style);
    expect([file.header, found, file.layout.first_row]).toEqual([header, rows, style.hasHeader === false ? 1 : 2]);
  });

  it('a workbook with gaps, a second sheet and a note beside it', async () => {
    const extra = { 'xl/worksheets/sheet2.xml': '<worksheet/>', 'docProps/app.xml': 'not even XML' };
    const sheet = `${textRow('code', 'name')}<row r="7"><c r="B7" t="inlineStr"><is><t>only</t></is></c></row>`;
    const { file, rows } = await read(await workbookOf(sheet, { extra }));
    expect([file.format, rows]).toEqual(['xlsx', [[null, 'only']]]);
  });
});

describe('an unreadable file says why:', () => {
  it.each(unreadableFiles)('$what', async (given) => {
    expect(await problemOf(read(await given.content, given.format, given.style))).toContain(given.problem);
  });
});
