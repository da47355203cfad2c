import {
  readBranch,
  readFilters,
  readSearch,
  readSort,
  readView,
  writeFilters,
  writeSearch,
  writeSort,
} from './view.ts';

const filters = {
  name: { filterType: 'text', type: 'contains', filter: 'land' },
  kind: { filterType: 'set', values: ['a', null] },
};

describe('the view of an address', () => {
  it('comes back as it was written', () => {
    const sort = writeSort([
      { column: 'name', direction: 'asc' },
      { column: 'code', direction: 'desc' },
    ]);
    const view = { q: 'berlin', filter: writeFilters(filters), sort, as_of: '2026-03-31T22:00:00.000Z', row: 7 };
    const saved = { columns: 'code,name:hidden', view: 3, without: 'filter,sort' };
    expect(readView({ ...view, ...saved })).toEqual({ ...view, ...saved });
    expect(readView({ ...view, view: 'all' })).toMatchObject({ ...view, view: 'all' });
    expect(readFilters(view.filter)).toEqual(filters);
    expect(readSort(sort)).toEqual([
      { column: 'name', direction: 'asc' },
      { column: 'code', direction: 'desc' },
    ]);
  });

  it('has no member for what is not asked for', () => {
    expect(Object.values(readView({})).every((value) => value === undefined)).toBe(true);
    expect([writeFilters({}), writeSort([])]).toEqual([undefined, undefined]);
  });

  it('leaves out what cannot be read', () => {
    const broken = {
      q: '  ',
      filter: '{"name":',
      sort: ',-,',
      as_of: 'yesterday',
      row: '-1',
      view: 'mine',
      without: 'row',
      columns: ',:',
    };
    expect(Object.values(readView(broken)).every((value) => value === undefined)).toBe(true);
    expect(readFilters('[1]')).toEqual({});
    expect(readFilters('{"name": 3, "code": {"filterType": "text"}}')).toEqual({ code: { filterType: 'text' } });
  });
});

it('a branch is a whole number', () => {
  expect([readBranch({ branch: 3 }), readBranch({ branch: '3' }), readBranch({ branch: 'x' }), readBranch({})]).toEqual(
    [3, 3, undefined, undefined],
  );
});

it('an address has its members as plain text, and none that is empty', () => {
  const text = writeSearch({ q: 'a&b=c', filter: '{"a":{}}', row: 7, sort: undefined, as_of: '' });
  expect(text).toBe('?q=a%26b%3Dc&filter=%7B%22a%22%3A%7B%7D%7D&row=7');
  expect(readSearch(text)).toEqual({ q: 'a&b=c', filter: '{"a":{}}', row: '7' });
  expect(writeSearch({ q: undefined })).toBe('');
});
