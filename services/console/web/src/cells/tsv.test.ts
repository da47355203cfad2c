import { readTsv, writeHtmlTable, writeTsv } from './tsv.ts';

describe('rows on the clipboard', () => {
  it('are separated by tabs and line breaks as spreadsheets write them', () => {
    expect(
      writeTsv([
        ['code', 'name'],
        ['007', 'Bond'],
      ]),
    ).toBe('code\tname\r\n007\tBond');
  });

  it('quote cells with tabs, quotes or line breaks, and only those', () => {
    expect(writeTsv([['a\tb', 'say "hi"', 'two\nlines', 'it’s; plain, text']])).toBe(
      '"a\tb"\t"say ""hi"""\t"two\nlines"\tit’s; plain, text',
    );
  });

  it('are text in HTML, so leading zeros stay and markup is none', () => {
    const html = writeHtmlTable([['007', '<b>&']]);
    expect(html).toContain('>007</td>');
    expect(html).toContain('&lt;b&gt;&amp;');
    expect(html).toContain("mso-number-format:'\\@'");
  });
});

describe('rows from the clipboard', () => {
  it('are read as Excel, Sheets and LibreOffice write them', () => {
    const rows = [
      ['code', 'name'],
      ['007', 'Bond'],
    ];
    for (const text of ['code\tname\r\n007\tBond\r\n', 'code\tname\n007\tBond', 'code\tname\r007\tBond'])
      expect(readTsv(text)).toEqual(rows);
  });

  it('keep tabs, quotes and line breaks of quoted cells, and empty cells', () => {
    expect(readTsv('"a\tb"\t"say ""hi"""\t"two\nlines"\r\n\t\tx\t')).toEqual([
      ['a\tb', 'say "hi"', 'two\nlines'],
      ['', '', 'x', ''],
    ]);
    expect(readTsv('a\n\nb')).toEqual([['a'], [''], ['b']]);
    expect(readTsv('')).toEqual([]);
  });

  it('take a quote that is none of the quoting as it is', () => {
    expect(readTsv('5" pipe\t"open\n12')).toEqual([['5" pipe', '"open'], ['12']]);
  });

  it('are those that were written', () => {
    const rows = [
      ['a\tb', '"', ''],
      ['', 'x\r\ny', '""'],
    ];
    expect(readTsv(writeTsv(rows))).toEqual(rows);
  });
});
