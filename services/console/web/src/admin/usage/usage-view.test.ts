import { daysOf, periodOf, readUsageView } from './usage-view.ts';

const now = new Date('2026-11-26T12:00:00Z');
const period = (search: Record<string, unknown>) => periodOf(readUsageView(search), now);

describe('the view of usage', () => {
  it('is of this month, by application, unless the address says another', () => {
    expect(readUsageView({})).toEqual({});
    expect(period({})).toEqual({ from: '2026-11-01', to: '2026-11-26' });
  });

  it('is of the period of the address', () => {
    expect(period({ from: '2026-10-05', to: '2026-10-07' })).toEqual({ from: '2026-10-05', to: '2026-10-07' });
    expect(period({ to: '2026-09-10' })).toEqual({ from: '2026-09-01', to: '2026-09-10' });
  });

  it('leaves out days that there are not', () => {
    expect(readUsageView({ from: '2026-02-30', to: 'yesterday' })).toEqual({});
  });

  it('shows at most three months, and a day when the end is before the beginning', () => {
    expect(period({ from: '2020-01-01', to: '2026-10-31' })).toEqual({ from: '2026-08-01', to: '2026-10-31' });
    expect(period({ from: '2026-11-20', to: '2026-11-10' })).toEqual({ from: '2026-11-10', to: '2026-11-10' });
  });

  it('sums by what its channel has', () => {
    expect(readUsageView({ channel: 'console', by: 'resource' })).toEqual({ channel: 'console', by: 'resource' });
    expect(readUsageView({ channel: 'console', by: 'person' })).toEqual({ channel: 'console' });
    expect(readUsageView({ channel: 'api', by: 'person' })).toEqual({});
  });

  it('has every day of the period', () => {
    expect(daysOf({ from: '2026-10-30', to: '2026-11-02' })).toEqual([
      '2026-10-30',
      '2026-10-31',
      '2026-11-01',
      '2026-11-02',
    ]);
  });
});
