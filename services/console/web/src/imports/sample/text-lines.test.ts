import { cutAtLine, jsonLines } from './text-lines.ts';

describe('the beginning of a text', () => {
  it('is whole when it is short', () => {
    expect(cutAtLine('a,b\n1,2', 100, true)).toBe('a,b\n1,2');
  });

  it('ends with a line', () => {
    expect(cutAtLine('a,b\n1,2\n3,4\n', 10, true)).toBe('a,b\n1,2\n');
    expect(cutAtLine('a,b\n1,2\n3,', 100, false)).toBe('a,b\n1,2\n');
  });

  it('does not end inside of quotes', () => {
    expect(cutAtLine('a,b\n1,"x\ny\nz",2\n', 11, false)).toBe('a,b\n');
  });

  it('without a line break is cut anywhere', () => {
    expect(cutAtLine('abcdef', 3, true)).toBe('abc');
  });
});

describe('the beginning of JSON', () => {
  it('is its records, one a line', () => {
    expect(jsonLines('[{"a": 1,\n "b": {"c": "}"}}, {"a": 2}, {"a"', 1_000)).toBe(
      '{"a": 1,  "b": {"c": "}"}}\n{"a": 2}',
    );
    expect(jsonLines('{"a":"\\"{"}\n{"a":2}\n', 1_000)).toBe('{"a":"\\"{"}\n{"a":2}');
  });

  it('has only records that fit', () => {
    expect(jsonLines('{"a":1}\n{"a":2}\n{"a":3}', 17)).toBe('{"a":1}\n{"a":2}');
  });

  it('is none of another text', () => {
    expect(jsonLines('a,b\n{,}\n', 100)).toBeUndefined();
    expect(jsonLines('[1, 2]', 100)).toBeUndefined();
  });
});
