import { sumUsage } from './usage-sums.ts';

it('calls are summed by kind, and the last day counts', () => {
  const days = [
    { day: '2026-11-20', kind: 'read' as const, calls: 4 },
    { day: '2026-11-23', kind: 'export' as const, calls: 1 },
    { day: '2026-11-21', kind: 'read' as const, calls: 2 },
  ];
  expect(sumUsage({ days })).toEqual({ read: 6, write: 0, export: 1, lastDay: '2026-11-23' });
  expect(sumUsage({ days: [] })).toEqual({ read: 0, write: 0, export: 0, lastDay: undefined });
});
