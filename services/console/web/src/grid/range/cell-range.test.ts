import { cellsOf, fillTarget, fillWithin, isWithin, movedBy, rangeBetween, repeatedInto } from './cell-range.ts';

const order = ['code', 'name', 'area', 'note'];
const at = (column: string, row: number) => ({ column, row, isNew: false });

describe('a range', () => {
  it('reaches from one cell to another, whichever comes first', () => {
    const range = { isNew: false, top: 2, bottom: 5, columns: ['name', 'area'] };
    expect(rangeBetween(at('name', 2), at('area', 5), order)).toEqual(range);
    expect(rangeBetween(at('area', 2), at('name', 5), order)).toEqual(range);
    expect(rangeBetween(at('area', 5), at('name', 2), order)).toEqual(range);
    expect(cellsOf(range)).toBe(8);
  });

  it('has the cells between, and none of the new rows', () => {
    const range = rangeBetween(at('name', 2), at('area', 5), order);
    expect(isWithin(range, at('name', 2))).toBe(true);
    expect(isWithin(range, at('area', 5))).toBe(true);
    expect(isWithin(range, at('note', 3))).toBe(false);
    expect(isWithin(range, at('name', 6))).toBe(false);
    expect(isWithin(range, { ...at('name', 3), isNew: true })).toBe(false);
  });

  const bounds = { order, lastRow: 100, pageRows: 20 };
  it.each([
    ['ArrowDown', false, at('name', 8)],
    ['ArrowDown', true, at('name', 100)],
    ['ArrowUp', false, at('name', 6)],
    ['ArrowUp', true, at('name', 0)],
    ['PageDown', false, at('name', 27)],
    ['PageUp', false, at('name', 0)],
    ['ArrowLeft', false, at('code', 7)],
    ['ArrowRight', true, at('note', 7)],
    ['Home', false, at('code', 7)],
    ['End', false, at('note', 7)],
  ])('grows with %s, as far as there are cells', (key, isFar, expected) => {
    expect(movedBy(key, at('name', 7), isFar, bounds)).toEqual(expected);
  });

  it('does not grow with other keys', () => {
    expect(movedBy('a', at('name', 7), false, bounds)).toBeUndefined();
  });
});

describe('the corner of a range', () => {
  const source = rangeBetween(at('name', 4), at('area', 5), order);
  it.each([
    ['down', at('note', 9), { ...source, top: 6, bottom: 9 }],
    ['up', at('code', 1), { ...source, top: 1, bottom: 3 }],
    ['to the right', at('note', 4), { ...source, columns: ['note'] }],
    ['to the left', at('code', 5), { ...source, columns: ['code'] }],
    ['nowhere', at('area', 4), undefined],
  ])('fills %s', (_, to, expected) => expect(fillTarget(source, to, order)).toEqual(expected));

  it('fills its first row down, or its first column to the right', () => {
    expect(fillWithin(source, 'down')).toEqual({ source: { ...source, bottom: 4 }, target: { ...source, top: 5 } });
    expect(fillWithin(source, 'right')).toEqual({
      source: { ...source, columns: ['name'] },
      target: { ...source, columns: ['area'] },
    });
    expect(fillWithin({ ...source, bottom: 4 }, 'down')).toBeUndefined();
    expect(fillWithin({ ...source, columns: ['name'] }, 'right')).toBeUndefined();
  });
});

describe('a copied block', () => {
  const range = { isNew: false, top: 0, bottom: 3, columns: ['code', 'name'] };
  it('is repeated as often as it fits', () => {
    expect(repeatedInto([['x']], range)).toEqual(Array(4).fill(['x', 'x']));
    expect(repeatedInto([['a'], ['b']], range)).toEqual([
      ['a', 'a'],
      ['b', 'b'],
      ['a', 'a'],
      ['b', 'b'],
    ]);
  });

  it('stays as it is where it does not fit, or without a range', () => {
    const three = [['a'], ['b'], ['c']];
    expect(repeatedInto(three, range)).toBe(three);
    expect(repeatedInto(three, undefined)).toBe(three);
    expect(repeatedInto([], range)).toEqual([]);
  });
});
