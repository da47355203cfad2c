import { risksOf } from './risk.ts';

const shops = { id: 7, name: 'Shops', created: 60, updated: 340, deleted: 100 };
const regions = { id: 6, name: 'Regions', created: 1, updated: 2, deleted: 0 };

describe('the risks of a request', () => {
  it('are its deletions and the share of the rows that it changes', () => {
    const counts = new Map([
      [7, 880],
      [6, 100],
    ]);
    expect(risksOf([regions, shops], counts)).toEqual({ deletions: 100, shares: [{ table: 'Shops', share: 0.5 }] });
  });

  it('have no share of a table whose rows are not counted, and none above all of them', () => {
    expect(risksOf([shops], new Map([[7, undefined]])).shares).toEqual([]);
    expect(risksOf([shops], new Map()).shares).toEqual([]);
    expect(risksOf([shops], new Map([[7, 10]])).shares).toEqual([{ table: 'Shops', share: 1 }]);
  });
});
