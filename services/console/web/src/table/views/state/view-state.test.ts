import { membersOf, missingColumns, stateOf, updatedState, withoutColumns } from './view-state.ts';

const shown = {
  q: 'land',
  filter: '{"name":{"filterType":"text","type":"contains","filter":"a"}}',
  sort: '-name,code',
  columns: 'code,name:240:left,area:hidden',
};

describe('the state of a saved view', () => {
  it('shows what was saved, in words that other programs read', () => {
    const state = stateOf(shown);
    expect(state).toEqual({
      q: 'land',
      filters: { name: { filterType: 'text', type: 'contains', filter: 'a' } },
      sort: [
        { column: 'name', direction: 'desc' },
        { column: 'code', direction: 'asc' },
      ],
      columns: [{ column: 'code' }, { column: 'name', width: 240, pinned: 'left' }, { column: 'area', hidden: true }],
    });
    expect(membersOf(state)).toEqual(shown);
    expect(stateOf({})).toEqual({});
  });

  it('keeps what other programs have in it', () => {
    const before = { zoom: 2, q: 'old', sort: [{ column: 'name' }] };
    expect(updatedState(before, { q: 'new' })).toEqual({ zoom: 2, q: 'new' });
  });

  it('leaves out what cannot be read', () => {
    const nothing = { q: undefined, filter: undefined, sort: undefined, columns: undefined };
    expect(membersOf({ q: 3, filters: 'none', sort: { column: 'a' }, columns: [null, 1, {}] })).toEqual(nothing);
    expect(membersOf({})).toEqual(nothing);
    expect(membersOf({ columns: ['code', 'name', 'code'], sort: [null, { column: 'name' }] })).toMatchObject({
      columns: 'code,name',
      sort: 'name',
    });
  });
});

it('what a view asks of columns that are no more is named and left out', () => {
  expect(missingColumns({ ...shown, sort: '-name,svc_updated_at' }, ['code', 'area'])).toEqual(['name']);
  expect(missingColumns(shown, ['code', 'name'])).toEqual([]);
  expect(withoutColumns(shown, ['name'])).toEqual({ ...shown, filter: undefined, sort: 'code' });
});
