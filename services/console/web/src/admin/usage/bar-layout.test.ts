import { layBars, roundUp } from './bar-layout.ts';

const size = { width: 200, height: 100 };

describe('the bars of a chart', () => {
  it('stand on each other, day beside day', () => {
    const series = [
      { key: 'a', calls: 30, byDay: [20, 10] },
      { key: 'b', calls: 30, byDay: [30, 0] },
    ];
    expect(layBars(series, 2, 50, size)).toEqual([
      { series: 0, day: 0, x: 12.5, y: 60, width: 75, height: 40 },
      { series: 0, day: 1, x: 112.5, y: 80, width: 75, height: 20 },
      { series: 1, day: 0, x: 12.5, y: 0, width: 75, height: 60 },
    ]);
  });

  it('are none without calls', () => {
    expect(layBars([{ key: 'a', calls: 0, byDay: [0] }], 1, 0, size)).toEqual([]);
  });

  it.each([
    [0, 1],
    [1, 1],
    [3, 5],
    [20, 20],
    [21, 50],
    [999, 1000],
  ])('have a scale: %d fits under %d', (largest, scale) => {
    expect(roundUp(largest)).toBe(scale);
  });
});
