import { readCompareView, readSide, writeSide } from './compare-view.ts';

describe('the address of a comparison', () => {
  it('has branches, now or as of an instant', () => {
    expect(readSide('3')).toEqual({ branchId: 3, asOf: undefined });
    const then = '3@2026-03-31T22:00:00.000Z';
    expect(readSide(then)).toEqual({ branchId: 3, asOf: '2026-03-31T22:00:00.000Z' });
    expect(writeSide(readSide(then))).toBe(then);
    expect(readSide('3@2026-04-01T00:00+02:00')?.asOf).toBe('2026-03-31T22:00:00.000Z');
  });

  it('is read without what it cannot mean', () => {
    expect(readCompareView({ left: 'main', right: '2@then', table: ' ', kind: 'moved' })).toEqual({
      left: undefined,
      right: '2',
      table: undefined,
      kind: undefined,
    });
    expect(readCompareView({ left: '1', right: '2', table: 'countries', kind: 'deleted' })).toEqual({
      left: '1',
      right: '2',
      table: 'countries',
      kind: 'deleted',
    });
  });
});
