import type { Metrics } from '../queries.ts';

/** The metrics of all tables of an import; undefined while none has any. */
export function sumOfMetrics(all: Metrics[]): Metrics | undefined {
  if (all.length === 0) return undefined;
  const sum = (name: keyof Metrics) => all.reduce((total, metrics) => total + metrics[name], 0);
  return {
    rows_read: sum('rows_read'),
    inserted: sum('inserted'),
    updated: sum('updated'),
    deleted: sum('deleted'),
    unchanged: sum('unchanged'),
    rejected: sum('rejected'),
    bytes: sum('bytes'),
    duration: sum('duration'),
  };
}
