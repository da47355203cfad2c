import type { Usage } from './queries.ts';

type Consumer = Usage['consumers'][number];

/** The calls of a consumer by kind, and the last day with one. */
export function sumUsage({ days }: Pick<Consumer, 'days'>) {
  const sums = { read: 0, write: 0, export: 0 };
  for (const { kind, calls } of days) sums[kind] += calls;
  const lastDay = days.map(({ day }) => day).toSorted()[days.length - 1];
  return { ...sums, lastDay };
}
