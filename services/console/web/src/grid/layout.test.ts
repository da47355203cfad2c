import { layoutOf, statesOf } from './layout.ts';

const usual = [
  { colId: 'code', width: 140, pinned: 'left' as const },
  { colId: 'name', width: 280, pinned: null },
  { colId: 'area', width: 140, pinned: null },
];
const selection = { colId: 'ag-Grid-SelectionColumn', width: 44, pinned: 'left' as const };

describe('the layout of the grid', () => {
  it('is empty while the columns are as usual', () => {
    expect(layoutOf([selection, ...usual], usual)).toEqual([]);
    expect(layoutOf(statesOf([], usual), usual)).toEqual([]);
  });

  it('has all columns in their order, with what differs', () => {
    const layout = [
      { column: 'area', width: 90 },
      { column: 'code', pinned: 'none' as const },
      { column: 'name', hidden: true as const, pinned: 'right' as const },
    ];
    const states = statesOf(layout, usual);
    expect(states).toEqual([
      { colId: 'area', width: 90, hide: false, pinned: null },
      { colId: 'code', width: 140, hide: false, pinned: null },
      { colId: 'name', width: 280, hide: true, pinned: 'right' },
    ]);
    expect(layoutOf([selection, ...states], usual)).toEqual(layout);
  });

  it('puts new columns last, and leaves out those that the table no longer has', () => {
    const states = statesOf([{ column: 'old' }, { column: 'area' }], usual);
    expect(states.map(({ colId }) => colId)).toEqual(['area', 'code', 'name']);
  });
});
