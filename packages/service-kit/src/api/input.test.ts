import { z } from 'zod';
import type { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import {
  descriptionSchema,
  idSchema,
  idTextSchema,
  nameSchema,
  readAttributes,
  readParameters,
  splitBody,
} from './input.ts';

const failure = (run: () => unknown): { kind: string; errors: string[] } => {
  try {
    run();
  } catch (error) {
    const { kind, errors } = error as ServiceError;
    return { kind, errors };
  }
  throw new Error('nothing was refused');
};

const attributes = z.strictObject({
  name: nameSchema,
  description: descriptionSchema.optional(),
  load_type: z.enum(['manual', 'source']).optional(),
  length: z.number().int().min(1).max(10).optional(),
});

describe('a flood of problems', () => {
  it('lists its first hundred and counts the others in one line', () => {
    const many = z.strictObject({ items: z.array(z.string()).max(1000) });
    const { kind, errors } = failure(() => readParameters(many, { items: Array(500).fill(1) }));
    expect([kind, errors.length, errors[99], errors[100]]).toEqual([
      'bad_request',
      101,
      'items.99 must be a string',
      '400 more problems are not listed',
    ]);
    expect(failure(() => readParameters(many, { items: Array(101).fill(1) })).errors[100]).toBe(
      'items.100 must be a string',
    );
  });

  it('of items beyond the limit of a list is refused before any of them is checked', () => {
    let checked = 0;
    const item = z.string().refine(() => {
      checked += 1;
      return false;
    });
    const ofMany = z.union([z.string(), z.array(item).max(10)]);
    const lists = z.strictObject({ items: z.array(item).max(10), others: ofMany.nullable().optional() });
    const items = Array(11).fill('a');
    expect(failure(() => readParameters(lists, { items }))).toEqual({
      kind: 'bad_request',
      errors: ['items must have at most 10 items'],
    });
    expect(failure(() => readAttributes(lists, { items: [], others: items }))).toEqual({
      kind: 'validation_failed',
      errors: ['Others must have at most 10 items'],
    });
    expect(checked).toBe(0);
    failure(() => readParameters(lists, { items: items.slice(1) }));
    expect(checked).toBe(10);
  });

  it('of unknown properties is refused at once, with none of their names', () => {
    const body = Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`key ${i}`, i]));
    const names = new Set(['name']);
    expect(failure(() => splitBody(body, 'domain', names))).toEqual({
      kind: 'bad_request',
      errors: ['The body has 79998 properties more than are known.'],
    });
    expect(failure(() => splitBody({ domain: body }, 'domain', names)).errors).toEqual([
      'domain has 79998 properties more than are known.',
    ]);
    const nested = z.strictObject({ item: z.strictObject({}) });
    expect(failure(() => readParameters(nested, { item: body })).errors).toEqual([
      'item has 80000 properties more than are known.',
    ]);
  });

  it('shows the beginning of a long name', () => {
    const { errors } = failure(() => readParameters(z.strictObject({}), { ['x'.repeat(100_000)]: 1 }));
    expect(errors).toEqual([`${'x'.repeat(80)}… is not a known property.`]);
  });
});

describe('readAttributes', () => {
  it('collects every broken rule, each a sentence', () => {
    expect(failure(() => readAttributes(attributes, { name: '  ', load_type: 'x', length: 11 }))).toEqual({
      kind: 'validation_failed',
      errors: ["Name can't be blank", 'Load type must be one of manual, source', 'Length must be at most 10'],
    });
  });

  it('calls a missing or null required attribute blank', () => {
    expect(failure(() => readAttributes(attributes, {}))).toEqual({
      kind: 'validation_failed',
      errors: ["Name can't be blank"],
    });
    expect(failure(() => readAttributes(attributes, { name: null })).errors).toEqual(["Name can't be blank"]);
  });

  it('calls null blank where a word of a list or one of several types is due', () => {
    const several = z.strictObject({
      load_type: z.enum(['manual', 'source']),
      uris: z.union([z.string(), z.array(z.string())]),
    });
    expect(failure(() => readAttributes(several, { load_type: null, uris: null }))).toEqual({
      kind: 'validation_failed',
      errors: ["Load type can't be blank", "Uris can't be blank"],
    });
  });

  it.each([
    [z.string(), 5, 'must be a string'],
    [z.number(), '5', 'must be a number'],
    [z.int(), 1.5, 'must be an integer'],
    [z.array(z.string()), 'x', 'must be an array'],
    [z.record(z.string(), z.unknown()), [], 'must be an object'],
    [z.strictObject({}), 'x', 'must be an object'],
    [z.union([z.string(), z.array(z.string())]), 5, 'must be a string or an array'],
    [z.union([z.string(), z.array(z.string())]).nullable(), 5, 'must be a string or an array'],
  ])('says of what type the value has to be (%#)', (schema, value, sentence) => {
    expect(failure(() => readParameters(z.strictObject({ at: schema }), { at: value })).errors).toEqual([
      `at ${sentence}`,
    ]);
  });

  it.each([
    [idSchema, 0, 'at must be at least 1'],
    [idSchema, -7, 'at must be at least 1'],
    [z.array(idSchema), [3, 0], 'at.1 must be at least 1'],
    [z.number().positive(), 0, 'at must be more than 0'],
    [z.number().lt(1), 1, 'at must be less than 1'],
  ])('says which values there may be (%#)', (schema, value, sentence) => {
    expect(failure(() => readParameters(z.strictObject({ at: schema }), { at: value })).errors).toEqual([sentence]);
  });

  it('answers 400 for a wrong JSON type and for an unknown property', () => {
    expect(failure(() => readAttributes(attributes, { name: 5 }))).toEqual({
      kind: 'bad_request',
      errors: ['Name must be a string'],
    });
    expect(failure(() => readAttributes(attributes, { name: 'a', load_type: 5 })).kind).toBe('bad_request');
    expect(failure(() => readAttributes(attributes, { name: 'a', id: 1, constructor: 2 }))).toEqual({
      kind: 'bad_request',
      errors: ['id is not a known property.', 'constructor is not a known property.'],
    });
  });

  it('counts the length of a name in code points', () => {
    expect(readAttributes(attributes, { name: '𝒳'.repeat(255) }).name).toHaveLength(510);
    expect(failure(() => readAttributes(attributes, { name: 'x'.repeat(256) })).errors).toEqual([
      'Name is too long (maximum is 255 characters)',
    ]);
  });

  it('takes a description of ten thousand code points and no more', () => {
    const long = (length: number) => readAttributes(attributes, { name: 'a', description: '𝒳'.repeat(length) });
    expect(long(limits.descriptionCodePoints).description).toHaveLength(2 * limits.descriptionCodePoints);
    expect(failure(() => long(limits.descriptionCodePoints + 1)).errors).toEqual([
      'Description is too long (maximum is 10000 characters)',
    ]);
  });
});

describe('readParameters', () => {
  it('tells an alternative that there is not, and what is wrong in one that there is', () => {
    const some = z.discriminatedUnion('do', [
      z.strictObject({ do: z.literal('a') }),
      z.strictObject({ do: z.literal('b'), id: idSchema }),
    ]);
    const failed = (items: unknown[]) =>
      failure(() => readParameters(z.strictObject({ items: z.array(some) }), { items })).errors;
    expect(failed([{ do: 'a' }, { do: 'c' }, {}, { do: 'b', id: 'x', y: 1 }])).toEqual([
      'items.1.do must be one of a, b',
      'items.2.do is required.',
      'items.3.id must be a number',
      'items.3.y is not a known property.',
    ]);
  });

  it('answers 400 with every problem', () => {
    const schema = z.strictObject({ branch_id: idSchema, ids: z.array(idSchema).min(1) });
    expect(failure(() => readParameters(schema, { ids: [] }))).toEqual({
      kind: 'bad_request',
      errors: ['branch_id is required.', 'ids must have at least 1 item'],
    });
  });

  it('makes an id beyond int4 an id that nothing has', () => {
    expect(readParameters(idSchema, 99_999_999_999)).toBe(2_147_483_647);
    expect(readParameters(idTextSchema, '99999999999')).toBe(2_147_483_647);
  });

  it.each(['0', '-1', '1.5', 'abc', '', ' 1', '9'.repeat(16)])('refuses %p as an id', (text) => {
    expect(failure(() => readParameters(idTextSchema, text)).kind).toBe('bad_request');
  });
});

describe('splitBody', () => {
  const names = new Set(['name', 'description']);
  it('takes attributes nested, flat and with bracket keys', () => {
    for (const body of [
      { branch_id: 1, domain: { name: 'a' } },
      { branch_id: 1, name: 'a' },
      { branch_id: 1, 'domain[name]': 'a' },
    ])
      expect(splitBody(body, 'domain', names)).toEqual({ rest: { branch_id: 1 }, own: { name: 'a' } });
  });

  it('refuses an attribute that is given twice', () => {
    expect(failure(() => splitBody({ domain: { name: 'a' }, name: 'b' }, 'domain', names)).kind).toBe('bad_request');
  });

  it('takes a key that ends in [] for an array and nothing else', () => {
    const own = { name: ['a'] };
    expect(splitBody({ 'domain[name][]': ['a'] }, 'domain', names)).toEqual({ rest: {}, own });
    expect(failure(() => splitBody({ 'domain[name][]': 'a' }, 'domain', names)).kind).toBe('bad_request');
  });

  it.each([[[]], ['x'], [null], [1]])('refuses a body that is %p', (body) => {
    expect(failure(() => splitBody(body, 'domain', names)).kind).toBe('bad_request');
  });

  it('does not let a key reach a prototype', () => {
    splitBody(JSON.parse('{"domain": {"constructor": {"prototype": {"polluted": true}}}}'), 'domain', names);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
