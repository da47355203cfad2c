// Files that people and programs send and no importer can read, each with a part of the error that
// an import reports.
import { gzipSync } from 'node:zlib';
import { textRow, workbookOf, zipOf } from './workbooks.ts';

type Content = string | Uint8Array | Promise<Uint8Array>;
type Format = 'csv' | 'tsv' | 'ndjson' | 'json' | 'xlsx' | 'parquet';
/** What the sender declares about a text. */
type Style = { encoding?: 'utf-8' | 'utf-16le'; delimiter?: string; quote?: 'none'; hasHeader?: boolean };

export type UnreadableFile = {
  what: string;
  content: Content;
  /** A part of the reported error. */
  problem: string;
  /** The format that the sender declares. */
  format: Format | undefined;
  style: Style | undefined;
};

const windows = (text: string) => Buffer.from(text, 'latin1');

const files: [string, Content, string, Format?, Style?][] = [
  ['declared as UTF-8, and is not', windows('code\n\xfc\n'), 'not valid UTF-8', 'csv', { encoding: 'utf-8' }],
  ['declared as UTF-16, and is not', 'a\n1', 'not valid UTF-16', 'csv', { encoding: 'utf-16le' }],
  ['a control character where nothing is quoted', 'code\n\u0001\n', 'U+0001', 'csv', { quote: 'none' }],
  ['rows that two delimiters fit', '7;1,5\n', 'can be cut at "," or at ";"', 'csv', { hasHeader: false }],
  ['no row and no header', '\n', 'The file is empty.', 'csv', { hasHeader: false }],
  ['JSON declared to have no header', '[{"code":1}]', 'can only be CSV or TSV', undefined, { hasHeader: false }],
  ['single quotes that are never closed', "'code','name'\n'A,1\n", 'never closed'],
  ['nothing but line ends', '\n\r\n', 'The file is empty'],
  ['100,000 columns', `${'c,'.repeat(100_000)}c\n`, 'at most 1000 are read'],
  [
    '100,000 properties',
    JSON.stringify([Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`c${i}`, 1]))]),
    'more than 1000 different properties',
  ],
  ['a quote that is never closed', `code,name\nA,"${'x\n'.repeat(1000)}`, 'never closed'],
  ['inches', 'code,name\n1,5" pipe\n2,6" pipe\n3,valve\n', 'Row 2: a quote (") stands inside a cell'],
  ['inches, twice in a cell', 'code,name\n0,x\n1,3.5" and 5.25" disk\n', 'Row 3: a quote (") stands inside a cell'],
  ['text between the quotes of a cell', 'code,name\n2,"a"b"c"\n', 'Row 2: a cell goes on after its closing quote (")'],
  ['a blank before a quote', 'code,name\n3, "x, y"\n', 'Row 2: a quote (") stands inside a cell'],
  ['a blank after a quote', 'code,name\n3,"x" \n', 'Row 2: a cell goes on after its closing quote (")'],
  ['inches in TSV', 'code\tname\n1\t5"\n2\t6"\n', 'Row 2: a quote (") stands inside a cell'],
  ['another delimiter before a quote', 'code;name\n1;a,"b"\n', 'Row 2: a quote (") stands inside a cell'],
  [
    'inches without a header',
    'A,1\nB,5"\n',
    'Row 2: a quote (") stands inside a cell',
    'csv',
    { hasHeader: false, delimiter: ',' },
  ],
  ['apostrophes', "'code','name'\nA,O'Neil\nB,D'Arcy\n", "Row 2: a quote (') stands inside a cell"],
  [
    'inches in the header',
    'code,5" size,name\nA,1,2\n',
    'The header line has quotes in the wrong places. Where quotes',
  ],
  ['quotes that are text, with advice', 'code\n5"\n', 'the mapping says quote: none; else put'],
  ['a quote that is never closed in its row', 'code,name\nA,1\nB,"2\n', 'The quote that is open in row 3 is never'],
  ['a row of 17 MB', `code,name\nA,${'x'.repeat(17 * 1024 * 1024)}\n`, 'is longer than 16777216 bytes'],
  ['U+0000', 'code,name\nA,\0\n', 'U+0000'],
  [
    'an encoding that is neither UTF-8 nor Windows-1252',
    windows('code,name\nA,\x81\n'),
    'not valid UTF-8, nor Windows-1252',
  ],
  [
    'UTF-8 with a broken character',
    Buffer.concat([Buffer.from('code,name\nÄ,'), Buffer.from([0xff, 0x0a])]),
    'not valid UTF-8',
  ],
  [
    'half a UTF-16 character',
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from([0x00, 0xd8, 0x41, 0x00])]),
    'not valid UTF-16',
  ],
  ['gzip that is cut short', gzipSync('code,name\n'.repeat(1000)).subarray(0, 40), 'damaged or cut short'],
  [
    'gzip files with zeros between them',
    Buffer.concat([gzipSync('code,name\nA,1\n'), Buffer.alloc(3), gzipSync('B,2\n')]),
    'The gzip file is damaged',
  ],
  [
    'UTF-8 after a broken character',
    windows('code,name\n1,M\xc3\n2,Z\xc3\xbcrich\n'),
    'The file mixes encodings: byte 14 is no UTF-8, but from byte 19 on stands "ü" in UTF-8',
  ],
  [
    'UTF-8 after Windows-1252',
    Buffer.concat([windows('code,name\nA,Caf\xe9\n'), Buffer.from('B,8 €\n')]),
    'The file mixes encodings',
  ],
  ['gzip in gzip', gzipSync(gzipSync('code\nA\n')), 'more than once'],
  ['a gzip bomb', gzipSync(Buffer.alloc(80 * 1024 * 1024, 'code\n')), 'more than 200 times its size'],
  [
    'a zip bomb',
    workbookOf('', { texts: `<si><t>${' '.repeat(1000)}</t></si>`.repeat(80_000) }),
    'The texts of the workbook take more than',
  ],
  [
    'an archive of something else',
    zipOf({ 'aa/aa/etc/passwd': 'x' }).then((zip) =>
      Buffer.from(zip.toString('latin1').replaceAll('aa/aa/', '../../../'), 'latin1'),
    ),
    'damaged or cut short',
  ],
  ['an archive of an archive', zipOf({ 'a.zip': Buffer.from('PK\u0003\u0004') }), 'not an XLSX workbook'],
  ['an old workbook', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), 'an old form (.xls)'],
  ['a workbook declared as CSV', workbookOf(textRow('code')), 'not text', 'csv'],
  ['CSV declared as a workbook', 'code,name\n', 'not an XLSX workbook', 'xlsx'],
  ['CSV declared as Parquet', 'code,name\n', 'not a Parquet file', 'parquet'],
  ['an object declared as an array', '{"code":"A"}', 'it begins with [', 'json'],
  ['Parquet with nothing but its magic number', 'PAR1', 'damaged or cut short'],
];

export const unreadableFiles: UnreadableFile[] = files.map(([what, content, problem, format, style]) => ({
  what,
  content,
  problem,
  format,
  style,
}));
