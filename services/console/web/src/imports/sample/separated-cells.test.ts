import { readSeparated } from './separated-cells.ts';

const semicolon = { delimiter: ';', quote: null };

describe('cells of a text with separators', () => {
  it('are those of its lines, blank lines left out', () => {
    expect(readSeparated('a;b\r\n1;\n\n;2', semicolon, 10)).toEqual([
      ['a', 'b'],
      ['1', ''],
      ['', '2'],
    ]);
    expect(readSeparated('a;b\n1;', semicolon, 10)).toEqual([
      ['a', 'b'],
      ['1', ''],
    ]);
  });

  it('may have the separator, line breaks and quotes in quotes', () => {
    expect(readSeparated('"a;b";"say ""hi"""\n"two\nlines";x\n', semicolon, 10)).toEqual([
      ['a;b', 'say "hi"'],
      ['two\nlines', 'x'],
    ]);
    expect(readSeparated("'a;b';2\n", { delimiter: ';', quote: "'" }, 10)).toEqual([['a;b', '2']]);
    expect(readSeparated('5" pipe;"x\n', { delimiter: ';', quote: 'none' }, 10)).toEqual([['5" pipe', '"x']]);
  });

  it('begin after a line that names the separator', () => {
    expect(readSeparated('sep=;\na;b\n', semicolon, 10)).toEqual([['a', 'b']]);
  });

  it('are read no further than asked for', () => {
    expect(readSeparated('a\nb\nc\n', { delimiter: ',', quote: null }, 2)).toEqual([['a'], ['b']]);
  });
});
