import { isFiltered, isFound, readReviewView } from './review-view.ts';

describe('the view of a review', () => {
  it('is read from the address, where all values are texts', () => {
    const search = {
      table: '7',
      kind: 'delete',
      decision: 'undecided',
      problem: 'true',
      columns: 'all',
      operation: '81',
    };
    expect(readReviewView(search)).toEqual({
      table: 7,
      kind: 'delete',
      decision: 'undecided',
      problem: true,
      columns: 'all',
      operation: 81,
    });
  });

  it('leaves out what cannot be read', () => {
    const view = readReviewView({ table: '-1', kind: 'eat', decision: 'maybe', problem: 'no', columns: 'some' });
    expect(Object.values(view).every((value) => value === undefined)).toBe(true);
    expect(isFiltered(view)).toBe(false);
  });
});

describe('an operation', () => {
  const operation = { kind: 'update' as const, decision: 'accepted' as const, problems: [] };

  it('is found by all parts of the filter together', () => {
    expect(isFound(operation, {})).toBe(true);
    expect(isFound(operation, { kind: 'update', decision: 'accepted' })).toBe(true);
    expect(isFound(operation, { kind: 'update', decision: 'undecided' })).toBe(false);
  });

  it('is found by its problems', () => {
    expect(isFound(operation, { problem: true })).toBe(false);
    expect(isFound({ ...operation, problems: [{ code: 'taken', message: 'x' }] }, { problem: true })).toBe(true);
  });
});
