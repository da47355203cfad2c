import { givenColumn, givenTable } from '../../../tests/structures.ts';
import { planGrid } from '../../pages/grid-plan.ts';
import { type Field, fieldsOf } from '../../rows/fields.ts';
import type { Column } from '../../tables/table.ts';
import { createIndexSql, indexesFor, indexName, type Kind } from './grid-index.ts';
import { type ExistingIndex, indexRules, planIndexes, type RequestedIndex } from './index-plan.ts';

const column = (lineage_id: number, more: Partial<Column>): Column =>
  givenColumn(lineage_id, { name: `c${lineage_id}`, length: 50, ...more });
const table = givenTable([
  column(11, { name: 'id', data_type: 'integer', is_primary_key: true }),
  column(12, { name: 'name' }),
  column(13, { name: 'essay', data_type: 'text', length: null }),
  column(14, { name: 'price', data_type: 'decimal', length: 10, scale: 2 }),
  column(15, { name: 'extra', data_type: 'json' }),
  column(16, { name: 'long', length: 601 }),
  column(17, { name: 'half', length: 300 }),
  column(18, { name: 'rest', length: 301 }),
]);

const names = (filterModel: unknown, sortModel: unknown = [], more = {}) =>
  indexesFor(planGrid(table, { startRow: 0, endRow: 1, filterModel, sortModel, ...more })).map((index) =>
    indexName(table, index),
  );
const text = (type: string, filter: string) => ({ filterType: 'text', type, filter });

describe('the indexes that a page would use', () => {
  it('follow its first sort, from the end it begins with, or else the order of making', () => {
    expect(names({})).toEqual(['g_5_as1']);
    expect(names({}, [{ colId: 'price', sort: 'asc' }])).toEqual(['g_5_a14']);
    expect(
      names({}, [
        { colId: 'price', sort: 'desc' },
        { colId: 'id', sort: 'asc' },
      ]),
    ).toEqual(['g_5_d14']);
    expect(names({}, [{ colId: 'svc_updated_at', sort: 'desc' }])).toEqual(['g_5_ds3']);
    expect(names({}, [{ colId: 'price', sort: 'desc', type: 'absolute' }])).toEqual([]);
  });

  it('follow its filters, wherever they stand, but no negative ones', () => {
    const number = (type: string) => ({ filterType: 'number', type, filter: 1, filterTo: 2 });
    expect(names({ price: number('inRange'), name: text('contains', 'abc') })).toEqual([
      'g_5_as1',
      'g_5_a14',
      'g_5_w12',
    ]);
    expect(
      names({ price: { filterType: 'number', operator: 'OR', conditions: [number('equals'), number('notEqual')] } }),
    ).toEqual(['g_5_as1', 'g_5_a14']);
    expect(names({ name: text('notContains', 'abcd'), price: number('notEqual') })).toEqual(['g_5_as1']);
    expect(names({ price: number('blank'), id: number('notBlank') })).toEqual(['g_5_as1', 'g_5_a14']);
    expect(names({ id: { filterType: 'set', values: ['1'] } })).toEqual(['g_5_as1', 'g_5_a11']);
  });

  it('hold the rows of one value side by side, in the order of the page', () => {
    const is = (filter: unknown) => ({ filterType: 'number', type: 'equals', filter });
    const byName = [{ colId: 'name', sort: 'desc' }];
    expect(names({ name: text('equals', 'x') })).toEqual(['g_5_e12as1']);
    expect(names({ price: is(1) }, byName)).toEqual(['g_5_e14d12']);
    expect(names({ price: is(1) })).toEqual(['g_5_a14']);
    expect(names({ price: is(1), name: text('contains', 'abc') }, byName)).toEqual(['g_5_e14d12', 'g_5_w12']);
    expect(names({ price: is(1), name: text('equals', 'x') }, byName)).toEqual(['g_5_e14d12', 'g_5_e12d12']);
    // One row at most has the value.
    expect(names({ id: is(1) }, byName)).toEqual(['g_5_d12', 'g_5_a11']);
    expect(names({ price: is(1) }, [{ colId: 'price', sort: 'asc', type: 'absolute' }])).toEqual(['g_5_a14']);
    // Any of several values.
    expect(names({ price: { filterType: 'number', operator: 'OR', conditions: [is(1), is(2)] } }, byName)).toEqual([
      'g_5_d12',
      'g_5_a14',
    ]);
    // Both would not fit into a page of the index.
    expect(names({ half: text('equals', 'x') }, [{ colId: 'rest', sort: 'asc' }])).toEqual(['g_5_a18', 'g_5_a17']);
  });

  it('are none by words for fewer than three letters, whatever those are in UTF-16', () => {
    expect(names({ name: text('contains', '😀😀') })).toEqual(['g_5_as1']);
    expect(names({ name: text('startsWith', 'abc') })).toEqual(['g_5_as1', 'g_5_w12']);
    expect(names({ price: text('contains', '1234') })).toEqual(['g_5_as1']);
  });

  it('are none that a long value would not fit into', () => {
    expect(names({}, [{ colId: 'essay', sort: 'asc' }])).toEqual([]);
    expect(names({}, [{ colId: 'long', sort: 'asc' }])).toEqual([]);
    expect(names({}, [{ colId: 'extra', sort: 'asc' }])).toEqual([]);
    expect(names({ essay: text('contains', 'abc') })).toEqual(['g_5_as1', 'g_5_w13']);
  });

  it('are none when deleted rows are requested, too', () => {
    expect(names({}, [], { include_deleted: true })).toEqual([]);
  });

  it('hold what the order of a page says', () => {
    const field = (name: string) => fieldsOf(table).get(name) as Field;
    const make = (name: string, kind: Kind, equal?: string) =>
      createIndexSql(table, { field: field(name), kind, equal: equal === undefined ? undefined : field(equal) });
    expect(make('price', 'ascending')).toBe(
      'create index concurrently g_5_a14 on b_2.t_5 (c_14 asc nulls first, svc_sk) where not svc_is_deleted',
    );
    expect(make('id', 'descending')).toBe(
      'create index concurrently g_5_d11 on b_2.t_5 (c_11 desc, svc_sk) where not svc_is_deleted',
    );
    expect(make('svc_sk', 'ascending')).toBe(
      'create index concurrently g_5_as1 on b_2.t_5 (svc_sk asc) where not svc_is_deleted',
    );
    expect(make('price', 'descending', 'id')).toBe(
      'create index concurrently g_5_e11d14 on b_2.t_5 (c_11, c_14 desc nulls last, svc_sk) where not svc_is_deleted',
    );
    expect(make('svc_sk', 'ascending', 'name')).toBe(
      'create index concurrently g_5_e12as1 on b_2.t_5 (lower(c_12 collate "default"), svc_sk asc) where not svc_is_deleted',
    );
    expect(make('name', 'words')).toContain('using gin (lower(c_12 collate "default") gin_trgm_ops)');
  });
});

const request = (column_id: number, more: Partial<RequestedIndex> = {}): RequestedIndex => ({
  table,
  rows: 1_000_000,
  column_id,
  kind: 'ascending',
  equal_id: 0,
  asked: 10,
  distinct: 10,
  equal_distinct: null,
  idle_days: 0,
  failed_days: null,
  ...more,
});
const existing = (name: string, more: Partial<ExistingIndex> = {}): ExistingIndex => ({
  schema: 'b_2',
  name,
  table: 't_5',
  valid: true,
  option: name.includes('d') ? 1 : 2,
  ...more,
});
const plan = (requests: RequestedIndex[], there: ExistingIndex[] = [], words = true, rules = {}) => {
  const { drop, make } = planIndexes(requests, there, { ...indexRules, ...rules }, words);
  return { drop: drop.map(({ name }) => name), make: make.map((each) => indexName(each.table, each.index)) };
};

describe('the plan of indexes', () => {
  it('makes what is requested often enough of a table that is large enough', () => {
    expect(plan([request(14), request(12, { kind: 'words' })])).toEqual({ drop: [], make: ['g_5_w12', 'g_5_a14'] });
    expect(plan([request(14, { asked: 2 }), request(12, { rows: 99_999 })])).toEqual({ drop: [], make: [] });
  });

  it('leaves an index alone that exists and is requested', () => {
    expect(plan([request(14)], [existing('g_5_a14')])).toEqual({ drop: [], make: [] });
  });

  it('drops indexes that are no longer requested, are half made, belong to a dropped table, or have another order by now', () => {
    expect(plan([], [existing('g_5_a14')])).toEqual({ drop: ['g_5_a14'], make: [] });
    expect(plan([request(14, { idle_days: 15 })], [existing('g_5_a14')])).toEqual({ drop: ['g_5_a14'], make: [] });
    const again = { drop: ['g_5_a14'], make: ['g_5_a14'] };
    expect(plan([request(14)], [existing('g_5_a14', { valid: false })])).toEqual(again);
    expect(plan([request(14)], [existing('g_5_a14', { table: 'r_3' })])).toEqual(again);
    expect(plan([request(14)], [existing('g_5_a14', { option: 0 })])).toEqual(again);
  });

  it('makes one index for both ends of a column with few ties', () => {
    const both = (distinct: number | null) => [
      request(14, { distinct, asked: 2 }),
      request(14, { distinct, asked: 2, kind: 'descending' }),
    ];
    expect(plan(both(-0.5)).make).toEqual(['g_5_a14']);
    expect(plan(both(1000)).make).toEqual(['g_5_a14']);
    expect(plan([request(14, { distinct: 999, kind: 'descending' })]).make).toEqual(['g_5_d14']);
    expect(plan([request(14, { distinct: null, kind: 'descending' })]).make).toEqual(['g_5_d14']);
  });

  it('makes one index for all orders of the few rows that are equal in a column', () => {
    const orders = (equal_distinct: number | null) => [
      request(14, { equal_id: 12, equal_distinct, asked: 2, kind: 'descending' }),
      request(11, { equal_id: 12, equal_distinct, asked: 2 }),
    ];
    expect(plan(orders(5_000)).make).toEqual(['g_5_e12as1']);
    expect(plan(orders(4_999).map((each) => ({ ...each, asked: 3 }))).make).toEqual(['g_5_e12d14', 'g_5_e12a11']);
    // Of a number the plain index of its column is the same.
    const numbers = [request(12, { equal_id: 14, equal_distinct: -1, asked: 2 }), request(14, { asked: 2 })];
    expect(plan(numbers).make).toEqual(['g_5_a14']);
    expect(plan([...orders(5_000), request(-1, { asked: 2 })], [existing('g_5_e12as1', { option: 0 })])).toEqual({
      drop: [],
      make: [],
    });
  });

  it('makes few: those that were requested most of late', () => {
    const few = { perTable: 2, wordsPerTable: 1 };
    const requests = [
      request(14, { asked: 5 }),
      request(11, { asked: 300, idle_days: 13 }),
      request(12, { asked: 50 }),
      request(12, { kind: 'words', asked: 4 }),
      request(13, { kind: 'words', asked: 6 }),
    ];
    expect(plan(requests, [existing('g_5_a11')], true, few)).toEqual({
      drop: ['g_5_a11'],
      make: ['g_5_w13', 'g_5_a12'],
    });
    expect(plan(requests, [], false, few)).toEqual({ drop: [], make: ['g_5_a12', 'g_5_a11'] });
  });

  it('leaves an index in its place until another is requested twice as much', () => {
    const one = { perTable: 1 };
    const requests = (asked: number) => [request(14, { asked: 10 }), request(12, { asked })];
    expect(plan(requests(19), [existing('g_5_a14')], true, one)).toEqual({ drop: [], make: [] });
    expect(plan(requests(21), [existing('g_5_a14')], true, one)).toEqual({ drop: ['g_5_a14'], make: ['g_5_a12'] });
    expect(plan(requests(19), [existing('g_5_a14', { valid: false })], true, one).make).toEqual(['g_5_a12']);
  });

  it('does not try again what failed today, nor what a column no longer allows', () => {
    expect(plan([request(14, { failed_days: 0.5 })]).make).toEqual([]);
    expect(plan([request(14, { failed_days: 1.5 })]).make).toEqual(['g_5_a14']);
    expect(plan([request(15), request(99)]).make).toEqual([]);
  });
});
