import { bodyOf, type Corrections, withCell, wrongColumns } from './corrections.ts';

const columns = [
  { name: 'Land', target: 'country' },
  { name: 'Note', target: null },
  { name: 'Jahr', target: 'year' },
];
const row = { row: 7, cells: ['XX', 'seen', null], problems: [] };
const problem = (column: string) => ({ column, value: null, message: 'is wrong' });
const none: Corrections = new Map();

describe('corrections', () => {
  it('are the cells that were entered, an empty one without a value', () => {
    const two = withCell(withCell(none, row, 0, 'DE'), row, 2, '2026');
    expect(bodyOf(two, columns)).toEqual({ rows: [{ row: 7, cells: { Land: 'DE', Jahr: '2026' } }] });
    expect(bodyOf(withCell(two, row, 0, ''), columns).rows).toEqual([{ row: 7, cells: { Land: null, Jahr: '2026' } }]);
  });

  it('are none of a cell that is as the file has it', () => {
    const one = withCell(withCell(none, row, 0, 'DE'), row, 2, 'x');
    expect(bodyOf(withCell(one, row, 2, ''), columns).rows).toEqual([{ row: 7, cells: { Land: 'DE' } }]);
    expect(withCell(withCell(one, row, 2, ''), row, 0, 'XX').size).toBe(0);
  });
});

describe('the fields of a row', () => {
  it.each([
    ['the column of the table that is wrong', ['year'], [2]],
    ['the columns of a key', ['country, year'], [0, 2]],
    ['several', ['year', 'country'], [0, 2]],
    ['all that are loaded, of a row as a whole', [''], [0, 2]],
    ['all that are loaded, of a column that the file lacks', ['other'], [0, 2]],
  ])('are %s', (_, named, positions) => {
    expect(wrongColumns({ ...row, problems: named.map(problem) }, columns)).toEqual(positions);
  });
});
