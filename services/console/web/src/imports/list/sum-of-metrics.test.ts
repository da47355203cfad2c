import { sumOfMetrics } from './sum-of-metrics.ts';

const one = { rows_read: 3, inserted: 1, updated: 1, deleted: 0, unchanged: 0, rejected: 1, bytes: 90, duration: 5 };

it('the metrics of an import are those of its tables', () => {
  expect(sumOfMetrics([])).toBeUndefined();
  expect(sumOfMetrics([one])).toEqual(one);
  expect(sumOfMetrics([one, { ...one, deleted: 4 }])).toEqual({
    ...{ rows_read: 6, inserted: 2, updated: 2, deleted: 4, unchanged: 0, rejected: 2, bytes: 180, duration: 10 },
  });
});
