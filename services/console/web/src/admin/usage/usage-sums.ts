// Sums of calls: by day and by what they are grouped by, the largest first.
import type { Schemas } from '../../api/client.ts';
import type { Grouping } from './usage-view.ts';

export type UsageLine = Schemas['Usage'];

/** `key` is an id or a name, `other` below for all beyond the largest, '' for what is not known. */
export type Series = { key: string; calls: number; byDay: number[] };

export type UsageSums = { series: Series[]; total: number; byDay: number[] };

export const other = '…';

function keyOf({ application_id, user_id, resource, method }: UsageLine, by: Grouping): string {
  const keys = { application: application_id, person: user_id, resource, method };
  return String(keys[by] ?? '');
}

/** The sums over the days, with at most `most` series: the smallest are one. */
export function sumUsage(lines: readonly UsageLine[], by: Grouping, days: readonly string[], most: number): UsageSums {
  const places = new Map(days.map((day, place) => [day, place]));
  const zeros = () => days.map(() => 0);
  const byKey = new Map<string, Series>();
  const all: Series = { key: '', calls: 0, byDay: zeros() };
  for (const line of lines) {
    const place = places.get(line.day);
    if (place === undefined) continue;
    const key = keyOf(line, by);
    const series = byKey.get(key) ?? { key, calls: 0, byDay: zeros() };
    byKey.set(key, series);
    for (const sum of [series, all]) {
      sum.calls += line.calls;
      sum.byDay[place] = (sum.byDay[place] ?? 0) + line.calls;
    }
  }
  const largest = [...byKey.values()].toSorted((one, two) => two.calls - one.calls || one.key.localeCompare(two.key));
  return { series: joinSmallest(largest, most), total: all.calls, byDay: all.byDay };
}

function joinSmallest(largest: Series[], most: number): Series[] {
  if (largest.length <= most) return largest;
  const rest = largest.slice(most - 1);
  const joined = {
    key: other,
    calls: rest.reduce((sum, { calls }) => sum + calls, 0),
    byDay: (rest[0]?.byDay ?? []).map((_, day) => rest.reduce((sum, { byDay }) => sum + (byDay[day] ?? 0), 0)),
  };
  return [...largest.slice(0, most - 1), joined];
}
