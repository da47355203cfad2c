import { gzipSync } from 'node:zlib';
import { ServiceError } from '@almanac/service-kit/errors';
import { openCsv } from './csv-file.ts';
import { guardCells } from './csv-guard.ts';
import { RowScanner } from './csv-rows.ts';
import { textBytes } from './text-bytes.ts';

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
    seen: file.rowsSeen(),
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
    ['with a header only', 'code,name', '', 0],
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

  it('passes clean bytes on untouched, however they are cut', async () => {
    const rows = 'DE,"Däutschland 🏔"\nFR,\n'.repeat(200);
    for (const size of [1, 3, 5, 64]) expect((await open(`code,name\n${rows}`, { size })).rows).toBe(rows);
    const chunk = Buffer.from(rows);
    expect(new RowScanner().scan(chunk)).toBe(chunk);
  });

  it.each([
    [';', 'code;name,full\nDE;x\n', ['code', 'name,full']],
    ['\t', 'code\tname\n', ['code', 'name']],
    ['|', 'code|name\n', ['code', 'name']],
    [',', 'code\n', ['code']],
    [';', 'sep=;\ncode;name\n', ['code', 'name']],
  ])('finds the delimiter %j', async (delimiter, content, header) => {
    expect(await open(content)).toMatchObject({ delimiter, header });
  });

  it('takes a delimiter it is told', async () => {
    expect((await open('code;name,x\n', { delimiter: ',' })).header).toEqual(['code;name', 'x']);
  });

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
    ['a quote that is never closed', 'code\nDE\n"FR\nIT\n', 'open in row 2 is never closed'],
    ['a ZIP archive', Buffer.from('PK\u0003\u0004rest of it'), 'ZIP archive'],
    ['gzip in gzip', gzipSync(gzipSync('code\n')), 'more than once'],
    ['gzip cut short', gzipSync('code\n'.repeat(1000)).subarray(0, 30), 'damaged or cut short'],
    ['too many columns', `${'a,'.repeat(1000)}a\n`, 'at most 1000'],
  ])('refuses %s', async (_what, content, problem) => {
    expect(await problemOf(open(content))).toContain(problem);
  });

  it('stops a header that never ends', async () => {
    const endless = async function* () {
      for (let i = 0; i < 1000; i += 1) yield Buffer.alloc(64 * 1024, 'a');
    };
    expect(await problemOf(openCsv(textBytes(endless()), { hasHeader: true, expected: new Set() }))).toContain(
      'header line is longer',
    );
  });

  it('stops a record that never ends, within bounds', () => {
    const scanner = new RowScanner('"', 100);
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

  it('puts an apostrophe before what a spreadsheet would run, in text columns only', async () => {
    const before =
      'name,n,note\n=1+1,-5,"@x,""y"""\n+a,1,\n"\tb",2,＝c\n"-a\n=b",3,\'q\n""",",4,"""="\nplain,5,ﾊ＝\n＋,6,ö';
    const after =
      'name,n,note\n\'=1+1,-5,"\'@x,""y"""\n\'+a,1,\n"\'\tb",2,\'＝c\n"\'-a\n=b",3,\'\'q\n""",",4,"""="\nplain,5,ﾊ＝\n\'＋,6,ö';
    for (const size of [1, 2, 3, 5, 1000]) expect(await guard(before, size)).toBe(after);
  });
});
