import { writeHtmlTable, writeTsv } from './tsv.ts';

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
