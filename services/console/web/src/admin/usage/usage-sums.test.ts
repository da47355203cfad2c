import { other, sumUsage, type UsageLine } from './usage-sums.ts';

const line = (day: string, resource: string, calls: number, application_id: number | null = 1): UsageLine => ({
  channel: 'api',
  day,
  method: 'GET',
  resource,
  application_id,
  user_id: null,
  calls,
});
const days = ['2026-11-01', '2026-11-02'];

describe('the sums of usage', () => {
  it('are by day and series, the largest first', () => {
    const lines = [line('2026-11-01', 'users', 2), line('2026-11-02', 'table_data', 5), line('2026-11-02', 'users', 1)];
    expect(sumUsage(lines, 'resource', days, 6)).toEqual({
      series: [
        { key: 'table_data', calls: 5, byDay: [0, 5] },
        { key: 'users', calls: 3, byDay: [2, 1] },
      ],
      total: 8,
      byDay: [2, 6],
    });
  });

  it('have the smallest as one, beyond the most that are shown', () => {
    const lines = ['a', 'b', 'c', 'd'].map((resource, index) => line('2026-11-01', resource, 10 - index));
    const { series } = sumUsage(lines, 'resource', days, 3);
    expect(series.map(({ key, calls }) => [key, calls])).toEqual([
      ['a', 10],
      ['b', 9],
      [other, 15],
    ]);
    expect(series[2]?.byDay).toEqual([15, 0]);
  });

  it('leave out other days, and keep calls of no known application', () => {
    const lines = [line('2026-10-31', 'users', 7), line('2026-11-01', 'users', 1, null)];
    expect(sumUsage(lines, 'application', days, 6).series).toEqual([{ key: '', calls: 1, byDay: [1, 0] }]);
  });
});
