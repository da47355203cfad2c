// Medians and the table at the end.

/** One line: what was measured through the system, and the bare limit beside it. */
export type Comparison = { name: string; unit: string; ours: number; bare: number; bareIs: string };

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function printTable(comparisons: Comparison[]): void {
  const number = (value: number) => Math.round(value).toLocaleString('en');
  const cells = comparisons.map(({ name, unit, ours, bare, bareIs }) => [
    name,
    unit,
    number(ours),
    number(bare),
    bareIs,
    `${((ours / bare) * 100).toFixed(0)} %`,
  ]);
  const head = ['measured (median)', 'unit', 'almanac', 'bare limit', 'which is', 'ratio'];
  const widths = head.map((title, place) =>
    Math.max(title.length, ...cells.map((row) => (row[place] as string).length)),
  );
  const line = (row: string[]) => row.map((cell, place) => cell.padEnd(widths[place] as number)).join('  ');
  console.log(`\n${line(head)}\n${widths.map((width) => '-'.repeat(width)).join('  ')}`);
  for (const row of cells) console.log(line(row));
}
