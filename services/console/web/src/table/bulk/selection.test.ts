import { findObstacle, selectionOf } from './selection.ts';

const filters = { state: { filterType: 'set' as const, values: ['open'] } };

describe('a selection', () => {
  it('is that of the filters, and says so when it is all rows', () => {
    expect(selectionOf(filters, undefined)).toEqual({ filterModel: filters });
    expect(selectionOf({}, undefined)).toEqual({ all: true });
  });

  it('is that of a search and the filters', () => {
    expect(selectionOf(filters, 'ber')).toEqual({ filterModel: filters, q: 'ber' });
    expect(selectionOf({}, 'ber')).toEqual({ filterModel: {}, q: 'ber' });
  });

  it('has an obstacle when it is empty, and beyond what a call takes', () => {
    const obstacles = [0, 1, 100_000, 100_001].map(findObstacle);
    expect(obstacles).toEqual(['none', undefined, undefined, 'too-many']);
  });
});
