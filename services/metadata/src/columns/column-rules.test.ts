import { messagesOf } from '@almanac/service-kit/problems';
import { z } from 'zod';
import { type ColumnShape, columnAttributes, newColumnAttributes, resolveColumn } from './column-rules.ts';
import { dataTypes } from './column-values.ts';

const given = z.strictObject(newColumnAttributes);
const resolve = (attributes: Record<string, unknown>, before?: ColumnShape) => {
  const schema = before ? z.strictObject(columnAttributes) : given;
  return resolveColumn(
    before,
    schema.parse(before ? attributes : { name: 'code', data_type: 'string', ...attributes }),
  );
};
const found = (attributes: Record<string, unknown>, before?: ColumnShape) => resolve(attributes, before).problems;
const problems = (attributes: Record<string, unknown>, before?: ColumnShape) => messagesOf(found(attributes, before));

describe('names of columns', () => {
  it.each(['a', '_', 'Country_Code2', 'x'.repeat(63), 'constructor'])('take %s', (name) =>
    expect(given.safeParse({ name, data_type: 'text' }).success).toBe(true),
  );

  it.each(['', ' ', '1a', 'a b', 'é', 'x'.repeat(64), 'svc_sk', 'SVC_x', '__proto__', 'a"; drop', 'a\n'])(
    'refuse %j',
    (name) => expect(given.safeParse({ name, data_type: 'text' }).success).toBe(false),
  );
});

describe('data types', () => {
  it('have their own names and three others', () => {
    for (const type of dataTypes) expect(resolve({ data_type: type }).column.data_type).toBe(type);
    expect(resolve({ data_type: 'varchar' }).column.data_type).toBe('string');
    expect(resolve({ data_type: 'character' }).column.data_type).toBe('string');
    expect(resolve({ data_type: 'timestamp' }).column.data_type).toBe('datetime');
  });

  it.each(['integer; drop', 'text[]', 'xml', 'citext', 'oid', 'regclass', '__proto__', 'constructor', '', 'String'])(
    'refuse %j',
    (data_type) => expect(given.safeParse({ name: 'a', data_type }).success).toBe(false),
  );
});

describe('length and scale', () => {
  it('give a string 255 characters by default', () => {
    expect(resolve({}).column.length).toBe(255);
    expect(resolve({ length: 10_485_760 })).toMatchObject({ column: { length: 10_485_760 }, problems: [] });
    expect(problems({ length: 10_485_761 })).toEqual(['Length must be at most 10485760']);
    expect(found({ length: 10_485_761 })).toMatchObject([
      { code: 'out_of_range', field: 'length', params: { maximum: 10_485_760 } },
    ]);
  });

  it.each([
    [{}, null, null],
    [{ length: 10 }, 10, 0],
    [{ scale: 2 }, 38, 2],
    [{ scale: 50 }, 50, 50],
    [{ length: 1000, scale: 1000 }, 1000, 1000],
  ])('of a decimal given as %j', (attributes, length, scale) =>
    expect(resolve({ data_type: 'decimal', ...attributes })).toMatchObject({ column: { length, scale }, problems: [] }),
  );

  it('refuse an impossible decimal', () => {
    expect(problems({ data_type: 'decimal', length: 1001 })).toHaveLength(1);
    expect(problems({ data_type: 'decimal', length: 2, scale: 3 })).toEqual([
      'Scale must be at most the length, which is 2',
    ]);
    expect(problems({ data_type: 'decimal', scale: 1001 })).toHaveLength(1);
  });

  it('are refused for types without them', () => {
    expect(problems({ data_type: 'integer', length: 3, scale: 1 })).toEqual([
      'Scale is only for decimal columns',
      'Length is only for string and decimal columns',
    ]);
    expect(problems({ data_type: 'string', scale: 1 })).toEqual(['Scale is only for decimal columns']);
  });

  it('are dropped when the type changes, kept when it stays', () => {
    const before = resolve({ length: 7 }).column;
    expect(resolve({ data_type: 'integer' }, before)).toMatchObject({ column: { length: null }, problems: [] });
    expect(resolve({ description: 'x' }, before)).toMatchObject({ column: { length: 7 }, problems: [] });
    expect(resolve({ data_type: 'varchar' }, before).column.length).toBe(7);
    expect(resolve({ length: null }, before).column.length).toBe(255);
  });
});

describe('keys', () => {
  it('are always required', () => {
    expect(resolve({ is_primary_key: true, is_required: false }).column.is_required).toBe(true);
    expect(problems({ is_primary_key: true, data_type: 'json' })).toHaveLength(1);
    expect(problems({ foreign_key_table_id: 1, data_type: 'json' })).toHaveLength(1);
    expect(problems({ foreign_key_table_id: 1, data_type: 'text' })).toEqual([]);
  });
});

describe('valid values', () => {
  it('come as text or array and are stored as text', () => {
    expect(resolve({ valid_values: 'a|b c| d ' }).column.valid_values).toBe('a|b c|d');
    expect(resolve({ valid_values: ['x', 'y'] }).column.valid_values).toBe('x|y');
    for (const nothing of ['', ' ', [], null])
      expect(resolve({ valid_values: nothing }).column.valid_values).toBeNull();
  });

  it.each([
    ['string', 'a||b', /empty/],
    ['string', '|||', /empty/],
    ['string', 'a|b|a', /"a" twice/],
    ['string', ['a|b'], /\|/],
    ['integer', '1|2|x', /"x", which is no integer/],
    ['integer', '1|01', /"01" twice/],
    ['integer', '2147483648', /no integer/],
    ['smallint', '32768', /no smallint/],
    ['bigint', '9223372036854775808', /no bigint/],
    ['date', '2026-02-30', /no date/],
    ['date', 'today', /no date/],
    ['double', 'NaN|1', /no double/],
    ['uuid', 'x', /no uuid/],
    ['boolean', 'true', /can't be given/],
    ['json', '{}', /can't be given/],
  ])('of %s refuse %j', (data_type, valid_values, sentence) => {
    expect(problems({ data_type, valid_values })).toEqual([expect.stringMatching(sentence)]);
  });

  it('must fit the modifiers, also after those change', () => {
    expect(problems({ length: 2, valid_values: 'ab|abc' })).toEqual([expect.stringMatching(/at most 2 characters/)]);
    expect(problems({ data_type: 'decimal', length: 4, scale: 2, valid_values: '12.34|12.30|1.234' })).toHaveLength(1);
    expect(problems({ data_type: 'decimal', length: 4, scale: 2, valid_values: '0.5|.5' })).toHaveLength(1);
    expect(problems({ data_type: 'decimal', length: 4, scale: 2, valid_values: '0.5|0.50' })).toEqual([
      expect.stringMatching(/twice/),
    ]);
    const before = resolve({ length: 5, valid_values: 'abcde' }).column;
    expect(problems({ length: 4 }, before)).toHaveLength(1);
    expect(problems({ data_type: 'integer' }, before)).toHaveLength(1);
    expect(problems({ data_type: 'integer', valid_values: '1|2' }, before)).toEqual([]);
  });

  it('end at 64 kB', () => {
    const values = (bytes: number) => ['x'.repeat(bytes - 2), 'y'];
    expect(problems({ data_type: 'text', valid_values: values(65_536) })).toEqual([]);
    expect(problems({ data_type: 'text', valid_values: values(65_537) })).toEqual([expect.stringMatching(/too long/)]);
  });
});

describe('hierarchies', () => {
  it('stay while the column refers to the same table', () => {
    expect(resolve({ foreign_key_table_id: 7 }).column.is_hierarchy).toBe(false);
    const before = resolve({ foreign_key_table_id: 7, is_hierarchy: true }).column;
    const after = (attributes: object) => resolve({ ...attributes }, before).column.is_hierarchy;
    expect([after({}), after({ foreign_key_table_id: 7 }), after({ name: 'up' })]).toEqual([true, true, true]);
    expect([after({ foreign_key_table_id: 8 }), after({ foreign_key_table_id: null })]).toEqual([false, false]);
    expect(after({ is_hierarchy: false })).toBe(false);
  });
});
