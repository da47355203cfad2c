import { reviversOf } from '@almanac/testkit/json-revivers';
import fc from 'fast-check';
import type { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { ExactNumber, parseJsonBody } from './json-body.ts';

const parse = (text: string) => parseJsonBody(new TextEncoder().encode(text));
const problem = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return (error as ServiceError).kind;
  }
  return 'no problem';
};

describe('parseJsonBody', () => {
  it('keeps numbers that a double would change as their own text', () => {
    const value = parse('{"a": 9007199254740993, "b": 12345678901234567.89, "c": 1e999, "d": 1.5, "e": 42}') as Record<
      string,
      unknown
    >;
    expect((value.a as ExactNumber).text).toBe('9007199254740993');
    expect((value.b as ExactNumber).text).toBe('12345678901234567.89');
    expect((value.c as ExactNumber).text).toBe('1e999');
    expect(value.d).toBe(1.5);
    expect(value.e).toBe(42);
  });

  it('does not take a number for the whole one that a double would make of it', () => {
    for (const text of [
      '1.0000000000000001',
      '9007199254740990.5',
      '1e-400',
      '1.23456789e-320',
      '-0.99999999999999999',
    ])
      expect((parse(`[${text}]`) as ExactNumber[])[0]?.text).toBe(text);
    expect(parse('[1.50, 1e3, 0.000000000000000000, 0e-999, 1e-300]')).toEqual([1.5, 1000, 0, 0, 1e-300]);
  });

  it('writes an exact number back digit by digit', () => {
    expect(JSON.stringify({ n: new ExactNumber('12345678901234567.89') })).toBe('{"n":12345678901234567.89}');
  });

  it('gives every number either exactly or as its text', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
        fc.integer({ min: 0, max: 12 }),
        (digits, scale) => {
          const whole = digits.toString();
          const text = scale === 0 ? whole : `${whole}.${'7'.repeat(scale)}`;
          const value = parse(`[${text}]`) as unknown[];
          const back = value[0] instanceof ExactNumber ? value[0].text : String(value[0]);
          expect(back).toBe(text === '-0' ? '0' : text);
        },
      ),
    );
  });

  it('calls nothing for each value, whatever numbers there are', () => {
    expect(reviversOf(() => parse('[12345678901234567890, 1e999, 1]'))).toEqual([undefined]);
  });

  it('keeps long numbers wherever they stand, and texts that look like them', () => {
    const long = '12345678901234567890';
    const text = `{"a": [${long}, -${long}.5, "${long}", {"${long}": ${long}}], "7": "\\\\u0000${long}", "b": ${long}}`;
    expect(JSON.stringify(parse(text))).toBe(
      `{"7":"\\\\u0000${long}","a":[${long},-${long}.5,"${long}",{"${long}":${long}}],"b":${long}}`,
    );
    expect(parse(long)).toEqual(new ExactNumber(long));
  });

  it.each([
    ...['-', '+', '01', '1.', '.1', '1e', '1e+', '--1', '1-1', '1.1.1', '0x1', '1 1', 'true1', '1"a"', '{1:1}'].map(
      (text) => [`a long number out of shape, ${text}`, `[${text.replace('1', '12345678901234567890')}]`],
    ),
    ['a name that is a long number', '{12345678901234567890: 1}'],
    ['a lone surrogate', '{"a": "\\ud800"}'],
    ['a NUL', '{"a": "x\\u0000"}'],
    ['a prototype key', '{"a": {"__proto__": {"polluted": 1}}}'],
    ['an escaped prototype key', '{"\\u005f_proto__": 1}'],
    ['a property that is given twice', '{"a": {"b": 1, "c": [2], "b": 3}}'],
    ['a property that is given twice in two spellings', '{"ab": 1, "a\\u0062": 2}'],
    ['trailing garbage', '{} x'],
    ['a comment', '{/* a */}'],
    ['NaN', '[NaN]'],
    ['a byte order mark', '\ufeff{}'],
    ['an empty body', ''],
  ])('refuses %s', (_name, text) => {
    expect(problem(() => parse(text))).toBe('bad_request');
  });

  it('refuses what is nested too deep before it is parsed, and not brackets inside texts', () => {
    // A parser would refuse these for another reason: they are no JSON either.
    expect(() => parse(`{"a":"\\\\","b":${'['.repeat(400_000)}`)).toThrow(
      `The body is nested deeper than ${limits.jsonDepth} levels.`,
    );
    for (const text of ['['.repeat(100), `\\"${'{['.repeat(100)}`, `${'['.repeat(50)}\\\\`])
      expect(parse(`{"a": "${text}"}`)).toEqual({ a: JSON.parse(`"${text}"`) });
  });

  it('takes any JSON as it is, colons and quotes in texts too', () => {
    const letters = fc.constantFrom(':', '"', '\\', '{', '}', ',', 'a', 'é', '𝒳');
    const text = fc.string({ unit: letters });
    const json = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    })).value;
    fc.assert(fc.property(json, (value) => expect(parse(JSON.stringify(value))).toEqual(value)));
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(problem(() => parseJsonBody(new Uint8Array([0x22, 0xff, 0x22])))).toBe('bad_request');
  });

  it('takes the deepest allowed nesting and not one level more', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(problem(() => parse(nested(limits.jsonDepth)))).toBe('no problem');
    expect(problem(() => parse(nested(limits.jsonDepth + 1)))).toBe('bad_request');
  });
});
