import { lastMonths } from './last-months.ts';

describe('the last months', () => {
  it('begin with the present one, and go over the end of a year', () => {
    expect(lastMonths(new Date('2026-01-31T23:59:59Z'), 3)).toEqual(['2026-01', '2025-12', '2025-11']);
  });

  it('are those of UTC', () => {
    expect(lastMonths(new Date('2026-03-01T00:30:00+02:00'), 1)).toEqual(['2026-02']);
  });
});
