// Where the bars of a chart stand: a column a day, its series one on the other.
import type { Series } from './usage-sums.ts';

export type Bar = { series: number; day: number; x: number; y: number; width: number; height: number };

export type ChartSize = { width: number; height: number };

/** The bars, from below upwards in the order of the series; days without calls have none. */
export function layBars(series: readonly Series[], days: number, highest: number, size: ChartSize): Bar[] {
  const step = size.width / days;
  const width = Math.max(step * 0.75, 1);
  const heights = Array.from({ length: days }, () => 0);
  return series.flatMap(({ byDay }, index) =>
    byDay.flatMap((calls, day) => {
      if (calls === 0 || highest === 0) return [];
      const height = (calls / highest) * size.height;
      const below = heights[day] ?? 0;
      heights[day] = below + height;
      return [
        { series: index, day, x: day * step + (step - width) / 2, y: size.height - below - height, width, height },
      ];
    }),
  );
}

/** A round number at or above the largest: 1, 2 or 5 with zeros. */
export function roundUp(largest: number): number {
  if (largest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  const steps = [1, 2, 5, 10].map((step) => step * power);
  return steps.find((step) => step >= largest) ?? largest;
}
