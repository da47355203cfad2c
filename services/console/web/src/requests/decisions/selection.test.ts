import { isSelected, isWhole, nothing, toggle, toggleShown } from './selection.ts';

const order = [11, 12, 13, 14];
const one = { order, isRange: false };
const range = { order, isRange: true };
const idsOf = (selection: ReturnType<typeof toggle>) => (selection.kind === 'some' ? [...selection.ids] : 'all');

describe('the selection of operations', () => {
  it('takes one in and out', () => {
    const selected = toggle(nothing, 12, one);
    expect(idsOf(selected)).toEqual([12]);
    expect(idsOf(toggle(selected, 12, one))).toEqual([]);
  });

  it('takes a range in, either way', () => {
    expect(idsOf(toggle(toggle(nothing, 12, one), 14, range))).toEqual([12, 13, 14]);
    expect(idsOf(toggle(toggle(nothing, 13, one), 11, range))).toEqual([13, 11, 12]);
  });

  it('takes one in when there is none that a range could start from', () => {
    expect(idsOf(toggle(nothing, 13, range))).toEqual([13]);
    expect(idsOf(toggle({ kind: 'some', ids: new Set(), last: 99 }, 13, range))).toEqual([13]);
  });

  it('has all that are shown, or none', () => {
    const shown = toggleShown(nothing, order);
    expect(isWhole(shown, order)).toBe(true);
    expect(idsOf(toggleShown(shown, order))).toEqual([]);
    expect(isWhole(nothing, [])).toBe(false);
  });

  it('of all that match has each, and is one of those shown once one is taken out', () => {
    expect(isSelected({ kind: 'all' }, 99)).toBe(true);
    expect(idsOf(toggle({ kind: 'all' }, 12, one))).toEqual([11, 13, 14]);
    expect(idsOf(toggleShown({ kind: 'all' }, order))).toEqual([]);
  });
});
