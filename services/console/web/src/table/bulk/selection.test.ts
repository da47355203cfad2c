import { findObstacle, selectionOf } from './selection.ts';

const filters = { state: { filterType: 'set' as const, values: ['open'] } };

describe('a selection', () => {
  it('is that of the filters, and says so when it is all rows', () => {
    expect(selectionOf(filters, undefined)).toEqual({ filterModel: filters });
    expect(selectionOf({}, undefined)).toEqual({ all: true });
  });

  it('names the rows of a search by their ids, besides the filters', () => {
    const svc_sk = { filterType: 'set', values: ['7', '9'] };
    expect(selectionOf(filters, [7, 9])).toEqual({ filterModel: { ...filters, svc_sk } });
  });

  it('of a search that finds nothing is not all rows', () => {
    expect(selectionOf({}, [])).toEqual({ filterModel: { svc_sk: { filterType: 'set', values: [] } } });
  });

  it('has an obstacle when it is empty, and beyond what a call takes', () => {
    expect([0, 1, 100_000, 100_001].map((count) => findObstacle(count, false))).toEqual([
      'none',
      undefined,
      undefined,
      'too-many',
    ]);
    expect([1_000, 1_001].map((count) => findObstacle(count, true))).toEqual([undefined, 'too-many-searched']);
  });
});
