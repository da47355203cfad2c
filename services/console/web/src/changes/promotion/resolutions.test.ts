import { allOf, type Conflict, choose, none, placeOf, sideOf, undecided } from './resolutions.ts';

const cell = (code: string, column = 'name') =>
  ({ table: 'currencies', column, attribute: 'value', row: { code, area: 1 } }) as unknown as Conflict;
const structure = { table: 'currencies', column: 'name', attribute: 'length' } as unknown as Conflict;

describe('resolutions of conflicts', () => {
  it('are of one cell, whatever the order of its key', () => {
    const choices = choose(none, placeOf(cell('CHF')), 'source');
    const turned = { ...cell('CHF'), row: { area: 1, code: 'CHF' } } as unknown as Conflict;
    expect(sideOf(choices, turned)).toBe('source');
    expect(sideOf(choices, cell('EUR'))).toBeUndefined();
    expect(Object.values(choices)).toEqual([
      { table: 'currencies', column: 'name', attribute: 'value', row: { code: 'CHF', area: 1 }, resolution: 'source' },
    ]);
  });

  it('are of all cells of a table, but for those that are decided singly afterwards', () => {
    const single = choose(none, placeOf(cell('CHF')), 'source');
    const all = choose(single, allOf(cell('EUR')), 'target');
    expect([cell('CHF'), cell('EUR'), cell('USD', 'area')].map((one) => sideOf(all, one))).toEqual([
      'target',
      'target',
      'target',
    ]);
    const again = choose(all, placeOf(cell('CHF')), 'source');
    expect(sideOf(again, cell('CHF'))).toBe('source');
    expect(sideOf(again, cell('EUR'))).toBe('target');
  });

  it('of all rows leave conflicts of the structure open', () => {
    const choices = choose(none, allOf(cell('CHF')), 'source');
    expect(undecided(choices, [structure, cell('CHF')])).toEqual([structure]);
    expect(undecided(choose(choices, placeOf(structure), 'target'), [structure, cell('CHF')])).toEqual([]);
  });
});
