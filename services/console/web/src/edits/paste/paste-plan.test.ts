import type { Column, Row } from '../../api/queries.ts';
import { numberSigns } from '../../cells/exact-numbers.ts';
import { blanksOf, keyOf, planPaste, shapeOf, valuesOf } from './paste-plan.ts';

const column = (name: string, given: Partial<Column> = {}) =>
  ({ name, data_type: 'string', is_primary_key: false, ...given }) as Column;
const code = column('code', { is_primary_key: true });
const name = column('name');
const size = column('size', { data_type: 'decimal' });
const columns = new Map([code, name, size].map((one) => [one.name, one]));
const habits = { signs: numberSigns('de'), dayOrder: 'day-first' } as const;
const row = (id: number, given: object) => ({ svc_sk: id, svc_version: 1, ...given }) as Row;

describe('the shape of a paste', () => {
  it('is a block from the focused cell on', () => {
    const cells = [
      ['Alpha', '1,5', 'more'],
      ['Beta', '2'],
    ];
    expect(shapeOf(cells, columns, 'name')).toEqual({
      by: 'place',
      columns: [name, size, undefined],
      lines: cells,
      ignored: ['1'],
    });
  });

  it('keeps the places of columns that are not written here', () => {
    const shown = new Map([['code', code] as const, ['note', undefined] as const, ['name', name] as const]);
    const cells = [['A', '{}', 'Alpha']];
    expect(shapeOf(cells, shown, 'code')).toMatchObject({ columns: [code, undefined, name], ignored: [] });
    expect(shapeOf([['{}', 'Alpha']], shown, 'note')).toMatchObject({ columns: [undefined, name], ignored: [] });
  });

  it('is by key when the first line names the key', () => {
    const cells = [
      ['Name', 'remark', 'CODE'],
      ['Alpha', 'x', 'A'],
    ];
    expect(shapeOf(cells, columns, 'code')).toEqual({
      by: 'key',
      columns: [name, undefined, code],
      lines: [['Alpha', 'x', 'A']],
      ignored: ['remark'],
    });
  });

  it('is a block when names alone, or not the key, stand in the first line', () => {
    expect(shapeOf([['code', 'name']], columns, 'code').by).toBe('place');
    expect(
      shapeOf(
        [
          ['name', 'size'],
          ['Alpha', '1'],
        ],
        columns,
        'name',
      ).by,
    ).toBe('place');
  });
});

describe('the plan of a paste', () => {
  const shape = shapeOf(
    [
      ['code', 'name', 'size'],
      ['A', 'Alpha', '1,50'],
      ['B', 'Bet', ''],
      ['C', 'Gamma', '3'],
      ['', '', ''],
    ],
    columns,
    'code',
  );
  const lines = shape.lines.map((line) => valuesOf(line, shape, habits));
  const a = row(1, { code: 'A', name: 'Alpha', size: '1.50' });
  const b = row(2, { code: 'B', name: 'Beta', size: '2.00' });

  it('changes cells that differ, adds rows that are not there, and counts what stays', () => {
    expect(planPaste(lines, [a, b, undefined, undefined], (one) => one)).toEqual({
      changes: [
        { row: b, column: 'name', value: 'Bet' },
        { row: b, column: 'size', value: null },
      ],
      created: [{ code: 'C', name: 'Gamma', size: '3' }],
      unchanged: 1,
    });
  });

  it('looks at rows with the edits that they have', () => {
    const edited = (one: Row) => (one === b ? { ...b, name: 'Bet', size: null } : one);
    expect(planPaste(lines, [a, b, undefined, undefined], edited).changes).toEqual([]);
  });

  it('says which required columns its new rows leave blank', () => {
    const required = column('name', { is_required: true });
    const created = [{ code: 'C', size: '3' }, { code: 'D', name: 'Delta' }, { name: 'Epsilon' }];
    expect(blanksOf(created, [code, required, size])).toEqual([
      { column: 'code', rows: 1 },
      { column: 'name', rows: 1 },
    ]);
    expect(blanksOf([{ code: 'C', name: 'Gamma' }], [code, required, size])).toEqual([]);
  });

  it('finds rows by keys of any type', () => {
    expect(keyOf({ code: 7 }, [code])).toBe(keyOf({ code: '7' }, [code]));
    expect(keyOf({ code: 'a', name: 'b' }, [code, name])).not.toBe(keyOf({ code: 'ab', name: '' }, [code, name]));
  });
});
