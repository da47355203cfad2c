import type { Column, Row } from '../../api/queries.ts';
import { planFill } from './fill-plan.ts';

const column = (name: string, given: Partial<Column> = {}) =>
  ({ name, data_type: 'string', foreign_key_table_id: null, valid_values: null, ...given }) as Column;
const given = [
  column('code'),
  column('country', { foreign_key_table_id: 7, data_type: 'integer' }),
  column('size', { data_type: 'integer' }),
];
const order = ['code', 'json', 'country', 'size'];
const columns = new Map(given.map((one) => [one.name, one]));
const row = (id: number, values: object) =>
  ({ svc_sk: id, svc_version: 1, svc_lookups: {}, ...values }) as unknown as Row;
const shown = (one: Row) => one;
const range = (top: number, bottom: number, ...names: string[]) => ({ isNew: false, top, bottom, columns: names });
const valuesOf = ({ changes }: ReturnType<typeof planFill>) =>
  changes.map(({ row: { svc_sk }, column: name, value, label }) => [svc_sk, name, value, ...(label ? [label] : [])]);

describe('a fill', () => {
  it('goes on with numbers and codes, and repeats references with what they show', () => {
    const source = [
      row(1, { code: 'A1', size: 1, country: 1, svc_lookups: { country: 'Germany' } }),
      row(2, { code: 'A2', size: 3, country: 2, svc_lookups: { country: 'France' } }),
    ];
    const target = [row(3, { code: 'X', size: 5, country: null })];
    const names = ['code', 'json', 'country', 'size'];
    const plan = planFill(
      { source: range(0, 1, ...names), target: range(2, 2, ...names) },
      { columns, order, source, target, shown },
    );
    expect(valuesOf(plan)).toEqual([
      [3, 'code', 'A3'],
      [3, 'country', 1, 'Germany'],
    ]);
  });

  it('goes upwards from the first row', () => {
    const source = [row(3, { size: 30 }), row(4, { size: 40 })];
    const target = [row(1, { size: 0 }), row(2, { size: 0 })];
    const plan = planFill(
      { source: range(2, 3, 'size'), target: range(0, 1, 'size') },
      { columns, order, source, target, shown },
    );
    expect(valuesOf(plan)).toEqual([
      [2, 'size', 20],
      [1, 'size', 10],
    ]);
  });

  it('repeats values to the side, those of another type as texts', () => {
    const rows = [row(1, { code: '9', country: 2, size: 4, svc_lookups: { country: 'France' } })];
    const at = { columns, order, source: rows, target: rows, shown };
    expect(valuesOf(planFill({ source: range(0, 0, 'code'), target: range(0, 0, 'json', 'country') }, at))).toEqual([
      [1, 'country', '9'],
    ]);
    const toTheLeft = { source: range(0, 0, 'country', 'size'), target: range(0, 0, 'code') };
    expect(valuesOf(planFill(toTheLeft, at))).toEqual([[1, 'code', '4']]);
  });
});
