import { gzipSync } from 'node:zlib';
import { ServiceError } from '@almanac/service-kit/errors';
import { CsvError, parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { textBytes } from '../table-file/text-bytes.ts';
import { openCsv } from './csv-reader.ts';
import { guardCells } from './formula-guard.ts';
import { RowScanner } from './row-scanner.ts';

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield Uint8Array.from(bytes.subarray(at, at + size));
}

async function gather(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function open(
  content: string | Uint8Array,
  { size = 7, delimiter, expected = ['code', 'name'] }: { size?: number; delimiter?: string; expected?: string[] } = {},
) {
  const file = await openCsv(textBytes(cut(Buffer.from(content), size)), {
    delimiter,
    hasHeader: true,
    expected: new Set(expected),
  });
  return {
    header: file.header,
    delimiter: file.layout.delimiter,
    rows: (await gather(file.rows([]))).toString(),
    seen: file.rowsRead(),
  };
}

const problemOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => {
      expect(error).toBeInstanceOf(ServiceError);
      expect((error as ServiceError).kind).toBe('validation_failed');
      return (error as ServiceError).message;
    },
  );

const utf16 = (text: string, mark: number[], swap: boolean) => {
  const body = Buffer.from(text, 'utf16le');
  return Buffer.concat([Buffer.from(mark), swap ? body.swap16() : body]);
};

describe('CSV', () => {
  it.each([
    ['plain', 'code,name\nDE,Germany\n', 'DE,Germany\n', 1],
    ['with a byte order mark', '\ufeffcode,name\nDE,Germany\n', 'DE,Germany\n', 1],
    ['with CRLF', 'code,name\r\nDE,Germany\r\nFR,France\r\n', 'DE,Germany\nFR,France\n', 2],
    ['with CR', 'code,name\rDE,Germany\rFR,France', 'DE,Germany\nFR,France\n', 2],
    ['with mixed line ends', 'code,name\nDE,Germany\r\nFR,France\n', 'DE,Germany\nFR,France\n', 2],
    ['with blank lines', '\n\r\ncode,name\n\n\nDE,Germany\n\r\n\n', 'DE,Germany\n', 1],
    ['without a last line end', 'code,name\nDE,Germany', 'DE,Germany\n', 1],
    ['with line ends in cells', 'code,name\nDE,"Ger\r\nmany"\n', 'DE,"Ger\r\nmany"\n', 1],
    ['with quotes in cells', 'code,name\nDE,"a ""b"", c"\n', 'DE,"a ""b"", c"\n', 1],
    ['with quotes in all places', 'code,name\n"",""""\n"""","\n"\r,""\n"a"', '"",""""\n"""","\n"\n,""\n"a"\n', 4],
    ['with a quoted header', '"code","name"\r\n"DE",""\r\n', '"DE",""\n', 1],
    ['with a header only', 'code,name', '', 0],
    ['with a quoted header only', 'code,"name"', '', 0],
    ['packed', gzipSync('code,name\nDE,Germany\n'), 'DE,Germany\n', 1],
    ['in UTF-16LE', utf16('code,name\nDE,Zürich\n', [0xff, 0xfe], false), 'DE,Zürich\n', 1],
    ['in Windows-1252', Buffer.from('code,name\nDE,Z\xfcrich \x80\n', 'latin1'), 'DE,Zürich €\n', 1],
    ['in Windows-1252 that ends with a letter', Buffer.from('code,name\nDE,Caf\xe9', 'latin1'), 'DE,Café\n', 1],
    ['in UTF-16BE', utf16('code,name\nDE,Zürich\n', [0xfe, 0xff], true), 'DE,Zürich\n', 1],
  ])('reads a file %s', async (_what, content, rows, count) => {
    for (const size of [1, 2, 3, 7, 1000]) {
      const file = await open(content, { size });
      expect(file).toEqual({ header: ['code', 'name'], delimiter: ',', rows, seen: count });
    }
  });

  it('passes clean bytes on unchanged, however they are cut', async () => {
    const rows = 'DE,"Däutschland 🏔"\nFR,\n'.repeat(200);
    for (const size of [1, 3, 5, 64]) expect((await open(`code,name\n${rows}`, { size })).rows).toBe(rows);
    const chunk = Buffer.from(rows);
    expect(new RowScanner({ delimiter: ',' }).scan(chunk)).toBe(chunk);
  });

  it.each([
    [';', 'code;name,full\nDE;x\n', ['code', 'name,full']],
    ['\t', 'code\tname\n', ['code', 'name']],
    ['|', 'code|name\n', ['code', 'name']],
    [',', 'code\n', ['code']],
    [';', 'sep=;\ncode;name\n', ['code', 'name']],
  ])('detects the delimiter %j', async (delimiter, content, header) => {
    expect(await open(content)).toMatchObject({ delimiter, header });
  });

  it.each(['^', '\\', ']', '.', '-'])(
    'treats the delimiter that a file states as a character, not as a pattern: %s',
    async (sign) => {
      expect(await open(`sep=${sign}\n'code'${sign}'na''me'\n`)).toMatchObject({
        delimiter: sign,
        header: ['code', "na'me"],
      });
      // With a pattern made of it the time would double with each of these.
      const marks = `${"'".repeat(5_000)}x`;
      expect((await open(`sep=${sign}\n${marks}\n`)).header).toEqual([marks]);
    },
  );

  it('reads a quoted header with line ends, quotes and dangerous names', async () => {
    const { header } = await open('"co\nde","na""me",__proto__,constructor\n1,2,3,4\n');
    expect(header).toEqual(['co\nde', 'na"me', '__proto__', 'constructor']);
  });

  it.each([
    ['nothing', '', 'The file is empty'],
    ['only blank lines', '\n\n\r\n', 'The file is empty'],
    ['a byte order mark only', '\ufeff', 'The file is empty'],
    ['bytes of no encoding', Buffer.from([0x63, 0x0a, 0x81, 0x0a]), 'not valid UTF-8, nor Windows-1252 (byte 3)'],
    ['UTF-8 with other bytes in it', Buffer.from([0x63, 0x0a, 0xc3, 0xa4, 0xff, 0x0a]), 'not valid UTF-8'],
    ['other bytes after its byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x63, 0x0a, 0xff]), 'not valid UTF-8'],
    ['a character cut by the end', Buffer.from([0x63, 0x0a, 0xc3, 0xa4, 0xc3]), 'not valid UTF-8'],
    ['U+0000', 'code\n\0\n', 'U+0000'],
    ['a header quote that is never closed', '"code,name\nDE,x\n', 'never closed'],
    ['a quote that is never closed', 'code\nDE\n"FR\nIT\n', 'open in row 3 is never closed'],
    ['a quote inside a cell', 'code,name\nDE,x\nFR,5" y\nIT,6" y\n', 'Row 3: a quote (") stands inside a cell'],
    [
      'a cell that goes on after its quotes',
      'code,name\nDE,"x"y\n',
      'Row 2: a cell goes on after its closing quote (")',
    ],
    ['a quote after an empty quoted cell', 'code,name\nDE,""x"\n', 'Row 2: a cell goes on after its closing quote (")'],
    ['a quote inside the last cell', 'code,name\nDE,x"', 'Row 2: a quote (") stands inside a cell'],
    ['UTF-8 after Windows-1252', Buffer.from('c\nZ\xfc\n\xc3\xbc\n', 'latin1'), 'The file mixes encodings: byte 4 '],
    [
      'a euro sign in UTF-8 after Windows-1252',
      Buffer.from('c\n\xfc\n\xe2\x82\xac', 'latin1'),
      'from byte 5 on stands "€"',
    ],
    ['a ZIP archive', Buffer.from('PK\u0003\u0004rest of it'), 'ZIP archive'],
    ['gzip in gzip', gzipSync(gzipSync('code\n')), 'more than once'],
    ['gzip cut short', gzipSync('code\n'.repeat(1000)).subarray(0, 30), 'damaged or cut short'],
    ['too many columns', `${'a,'.repeat(1000)}a\n`, 'at most 1000'],
  ])('refuses %s', async (_what, content, problem) => {
    for (const size of [1, 2, 3, 7, 1000]) expect(await problemOf(open(content, { size }))).toContain(problem);
  });

  it.each([
    ['end', [], 'code\nDE\nFR\n'],
    ['end with zeros', [Buffer.alloc(300)], 'code\nDE\nFR\n'],
    ['go on after zeros', [Buffer.alloc(1), gzipSync('IT\n')], 'damaged'],
    ['go on with something else', [Buffer.from('IT\n')], 'damaged'],
    ['end with zeros and something else', [Buffer.alloc(100_000), Buffer.from('IT\n')], 'damaged'],
  ])('reads several gzip files as one when they %s', async (_what, more, outcome) => {
    const first = gzipSync('code\nDE\n');
    const file = Buffer.concat([first, gzipSync('FR\n'), ...more]);
    for (const size of [1, 7, first.length, 1000, 1_000_000]) {
      const read = gather(textBytes(cut(file, size))).then(String, ({ message }) => message);
      expect(await read).toContain(outcome);
    }
  });

  it('detects mixed encodings however they are cut, and none where a closing mark follows a letter', async () => {
    // ü „ß“ é » É® Ü– ×¼ ß« ÃÃ â‚.
    const marks = 'c\n\xfc \x84\xdf\x93 \xe9\xa0\xbb \xc9\xae \xdc\x96 \xd7\xbc \xdf\xab \xc3\xc3 \xe2\x82.\n';
    const pairs = ['\xc2\xb0', '\xc3\xa0', '\xc5\x82', '\xd0\xb6', '\xe2\x80\x93', '\xf0\x9f\x98\x80'];
    const outcome = (text: string, size: number) =>
      problemOf(gather(textBytes(cut(Buffer.from(text, 'latin1'), size))));
    for (const size of [1, 2, 3, 7, 1000]) {
      expect(await outcome(marks, size)).toBe('none');
      for (const pair of pairs) expect(await outcome(marks + pair, size)).toContain('mixes encodings');
    }
  });

  it('stops an endless header', async () => {
    const endless = async function* () {
      for (let i = 0; i < 1000; i += 1) yield Buffer.alloc(64 * 1024, 'a');
    };
    expect(await problemOf(openCsv(textBytes(endless()), { hasHeader: true, expected: new Set() }))).toContain(
      'header line is longer',
    );
  });

  it('reads quotes as csv-parse does, and refuses them where it does, however they are cut', () => {
    const pieces = ['"', '"', '""', ',', '\n', '\r\n', 'a', ' ', 'ü'];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((some) => some.join(''));
    const rowsOf = (content: string) =>
      parse(content, { relax_column_count: true, skip_empty_lines: true, record_delimiter: ['\r\n', '\n'] });
    const orRefused = <T>(read: () => T) => {
      try {
        return read();
      } catch (error) {
        if (error instanceof ServiceError || error instanceof CsvError) return 'refused';
        throw error;
      }
    };
    const scanned = (content: string, size: number) => {
      const bytes = Buffer.from(content);
      const scanner = new RowScanner({ delimiter: ',' });
      const parts: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) parts.push(scanner.scan(bytes.subarray(at, at + size)));
      const rows = rowsOf(Buffer.concat([...parts, scanner.end()]).toString());
      expect(rows).toHaveLength(scanner.records);
      return rows;
    };
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 5 }), (content, size) => {
        expect(orRefused(() => scanned(content, size))).toEqual(orRefused(() => rowsOf(content)));
      }),
      { numRuns: 3000 },
    );
  });

  it('stops an endless record, within bounds', () => {
    const scanner = new RowScanner({ delimiter: ',', maxRecord: 100 });
    expect(scanner.scan(Buffer.from(`${'x'.repeat(100)}\n`))).toHaveLength(101);
    expect(() => scanner.scan(Buffer.from(`"${'x'.repeat(100)}`))).toThrow('Row 2 is longer than 100 bytes');
  });

  it('stops a gzip bomb by its ratio and by its size', async () => {
    const bomb = gzipSync(Buffer.alloc(1024 * 1024, 'a\n'));
    const limits = { maxBytes: 10_000_000, maxRatio: 100, ratioFrom: 300_000 };
    expect(await problemOf(gather(textBytes(cut(bomb, 100), undefined, limits)))).toContain('more than 100 times');
    expect(
      await problemOf(gather(textBytes(cut(bomb, 100), undefined, { ...limits, maxRatio: 1e6, maxBytes: 1000 }))),
    ).toContain('larger than 1000 bytes');
  });

  it('closes its source when the reader leaves early', async () => {
    let closed = 0;
    const source = async function* () {
      try {
        yield Buffer.from('code\n');
        for (;;) yield Buffer.from('DE\n');
      } finally {
        closed += 1;
      }
    };
    const file = await openCsv(textBytes(source()), { hasHeader: true, expected: new Set() });
    for await (const _chunk of file.rows([])) break;
    expect(closed).toBe(1);
    const unread = await openCsv(textBytes(source()), { hasHeader: true, expected: new Set() });
    await unread.close();
    expect(closed).toBe(2);
    const zip = async function* () {
      try {
        yield Buffer.from('PK\u0003\u0004');
        yield Buffer.from('rest');
      } finally {
        closed += 1;
      }
    };
    await problemOf(openCsv(textBytes(zip()), { hasHeader: true, expected: new Set() }));
    expect(closed).toBe(3);
    await problemOf(openCsv(textBytes(cut(Buffer.from('"a'), 1)), { hasHeader: true, expected: new Set() }));
  });
});

describe('formula guard', () => {
  const guard = async (text: string, size: number) =>
    (await gather(guardCells(cut(Buffer.from(text), size), [true, false, true]))).toString();

  it('puts an apostrophe before what a spreadsheet program would run, in text columns only', async () => {
    const before =
      'name,n,note\n=1+1,-5,"@x,""y"""\n+a,1,\n"\tb",2,＝c\n"-a\n=b",3,\'q\n""",",4,"""="\nplain,5,ﾊ＝\n＋,6,ö';
    const after =
      'name,n,note\n\'=1+1,-5,"\'@x,""y"""\n\'+a,1,\n"\'\tb",2,\'＝c\n"\'-a\n=b",3,\'\'q\n""",",4,"""="\nplain,5,ﾊ＝\n\'＋,6,ö';
    for (const size of [1, 2, 3, 5, 1000]) expect(await guard(before, size)).toBe(after);
  });
});
