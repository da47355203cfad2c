import { z } from 'zod';
import type { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type Fields, listParameters, page, prismaOrderBy, prismaWhere, readListQuery, window } from './list-query.ts';

const fields: Fields = {
  id: 'integer',
  big_id: 'bigint',
  name: 'text',
  description: 'text?',
  is_default: 'boolean',
  created_at: 'time',
};
const query = (raw: Record<string, unknown>) => readListQuery(z.strictObject(listParameters).parse(raw), fields);
const errors = (raw: Record<string, unknown>) => {
  try {
    query(raw);
  } catch (error) {
    return (error as ServiceError).errors ?? 'schema';
  }
  throw new Error('nothing was refused');
};

describe('readListQuery', () => {
  it('has the contract defaults', () => {
    expect(query({})).toEqual({ page: 1, perPage: 100, conditions: [] });
  });

  it('serves at most 1000 a page', () => {
    expect(query({ per_page: '1000' }).perPage).toBe(1000);
    expect(query({ per_page: '1001' }).perPage).toBe(1000);
    expect(query({ per_page: '9'.repeat(30) }).perPage).toBe(1000);
  });

  it('takes a hundred conditions and no more', () => {
    const conditions = (length: number) => ({ q: Array.from({ length }, (_, i) => `name:not_eq:x${i}`) });
    expect(query(conditions(limits.filterConditions)).conditions).toHaveLength(limits.filterConditions);
    expect(errors(conditions(limits.filterConditions + 1))).toEqual(['q may be given at most 100 times.']);
  });

  it('compares a whole number with the largest there can be and no larger one', () => {
    expect(query({ q: `id:eq:${limits.int4}` }).conditions).toMatchObject([{ values: [limits.int4] }]);
    expect(errors({ q: `id:eq:${limits.int4 + 1}` })).toEqual(['q: 2147483648 is no integer, which id is.']);
  });

  it('takes a page above the last there can be for that one', () => {
    expect(query({ page: '2147483647' }).page).toBe(2_147_483_647);
    expect(query({ page: '2147483648' }).page).toBe(2_147_483_647);
    expect(query({ page: '9'.repeat(400) }).page).toBe(2_147_483_647);
  });

  it.each(['0', '-1', '1.5', 'NaN', '', '1;drop', '1e3'])('refuses page %p', (value) => {
    expect(() => query({ page: value })).toThrow();
    expect(() => query({ per_page: value })).toThrow();
  });

  it('takes a bare word as a search of the name', () => {
    expect(query({ q: 'euro' }).conditions).toEqual([
      { field: 'name', operator: 'contains', values: ['euro'], nullable: false },
    ]);
  });

  it('keeps colons of a value and reads values by the type of the field', () => {
    expect(
      query({
        q: ['name:eq:a:b', 'id:in:1|2', 'is_default:eq:true', 'description:null', 'description:null:'],
      }).conditions.map((c) => c.values),
    ).toEqual([['a:b'], [1, 2], [true], [], []]);
  });

  it('reads numbers as far as their type goes', () => {
    expect(query({ q: ['id:lte:2147483647', 'big_id:gt:2147483648'] }).conditions).toMatchObject([
      { values: [2_147_483_647] },
      { values: [2_147_483_648] },
    ]);
  });

  it.each([
    ['an unknown field', 'password_hash:contains:$'],
    ['an unknown operator', 'name:regex:(a+)+$'],
    ['a value of the wrong type', 'id:eq:1 or 1=1'],
    ['a number beyond its type', 'id:eq:2147483648'],
    ['a number beyond all types', 'big_id:eq:9007199254740993'],
    ['text operators on a number', 'id:contains:1'],
    ['order on a boolean', 'is_default:gt:true'],
    ['a prototype key', '__proto__:eq:1'],
    ['a value for null', 'description:null:x'],
    ['no value', 'name:eq'],
    ['nothing', ' '],
    ['a bare word with a NUL', 'a\u0000b'],
    ['a text with a NUL', 'name:eq:a\u0000b'],
    ['a day that is not in the calendar', 'created_at:gt:2023-02-29'],
    ['a day of the year 0', 'created_at:gt:0000-01-01'],
    ['an hour that no day has', 'created_at:gt:2023-02-28T25:00:00Z'],
  ])('refuses %s', (_name, q) => {
    expect(errors({ q })[0]).toMatch(/^q/);
  });

  it('takes a comma for a part of a text, and says how values are separated elsewhere', () => {
    expect(query({ q: 'name:in:a,b|c' }).conditions).toMatchObject([{ operator: 'in', values: ['a,b', 'c'] }]);
    expect(errors({ q: 'id:in:1,2' })).toEqual([
      'q: 1,2 is no integer, which id is.',
      'q: in takes values separated by |, as in id:in:1|2|3.',
    ]);
    expect(errors({ q: 'id:eq:1,2' })).toHaveLength(1);
  });

  it('reads times with and without an offset', () => {
    expect(
      query({ q: ['created_at:gt:2024-02-29', 'created_at:lt:2024-02-29T23:30:00+01:00'] }).conditions,
    ).toMatchObject([{ values: [new Date('2024-02-29T00:00:00Z')] }, { values: [new Date('2024-02-29T22:30:00Z')] }]);
  });

  it.each([
    ['2024-02-29T13:04Z', '2024-02-29T13:04:00.000Z'],
    ['2024-02-29T13:04:05', '2024-02-29T13:04:05.000Z'],
    ['2024-02-29T13:04:05+0000', '2024-02-29T13:04:05.000Z'],
    ['2024-02-29T13:04:05-05', '2024-02-29T18:04:05.000Z'],
    ['2024-02-29T24:00', '2024-03-01T00:00:00.000Z'],
    ['2024-02-29T13:04:05.123456Z', '2024-02-29T13:04:05.123Z'],
  ])('reads the time %s as %s', (given, taken) => {
    expect(query({ q: `created_at:eq:${given}` }).conditions).toMatchObject([{ values: [new Date(taken)] }]);
  });

  it('takes a time between two milliseconds for neither of them', () => {
    const q = ['gt', 'lte', 'gte', 'lt'].map((operator) => `created_at:${operator}:2024-02-29T13:04:05.1230001Z`);
    const [own, next] = [new Date('2024-02-29T13:04:05.123Z'), new Date('2024-02-29T13:04:05.124Z')];
    expect(query({ q }).conditions.map(({ values }) => values)).toEqual([[own], [own], [next], [next]]);
  });

  it('refuses to sort by what is not a field', () => {
    expect(errors({ sort: '-secret' })[0]).toMatch(/^sort: secret is not a field/);
    expect(query({ sort: '-name' }).sort).toEqual({ field: 'name', direction: 'desc' });
  });
});

describe('prisma', () => {
  it('means wildcards literally and counts items without a value as not equal', () => {
    expect(
      prismaWhere(query({ q: ['name:contains:100%_\\', 'description:not_eq:a', 'name:null'] }).conditions),
    ).toEqual({
      AND: [
        { name: { contains: '100\\%\\_\\\\', mode: 'insensitive' } },
        { OR: [{ description: { not: 'a' } }, { description: null }] },
        { id: { in: [] } },
      ],
    });
  });

  it('breaks ties by id and stays inside int4 for absurd pages', () => {
    expect(prismaOrderBy(query({ sort: '-name' }))).toEqual([{ name: 'desc' }, { id: 'asc' }]);
    for (const page of ['999999999', '2147483648', '9'.repeat(30)])
      expect(window(query({ page, per_page: '1000' })).skip).toBe(2_147_483_647);
  });

  it('counts pages', () => {
    expect(page([], query({ per_page: '10' }), 21).meta).toEqual({
      page: 1,
      per_page: 10,
      total_count: 21,
      total_pages: 3,
    });
  });
});
