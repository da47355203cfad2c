// Where the window of rows lies among all of them. Pure.

/** Up to so many rows, the grid has all of them. */
export const mostRows = 500_000;

/** The rows of the window where there are more: 12 million pixels. */
const windowRows = 400_000;

/** The window slides when one is so near to an end of it, in rows. */
const margin = 100;

/** How many rows are before the window that has a row in its middle, as far as there are rows. */
export function offsetAround(row: number, total: number): number {
  if (total <= mostRows) return 0;
  return Math.max(0, Math.min(total - windowRows, row - windowRows / 2));
}

/** How many rows the grid has. */
export function rowsInWindow(total: number, offset: number): number {
  const rows = Math.max(0, total - offset);
  return total <= mostRows ? rows : Math.min(windowRows, rows);
}

/** Whether the window has as many rows as there are for it, now that there are as many in all. */
export const isFilled = (total: number, offset: number): boolean =>
  offset <= (total <= mostRows ? 0 : total - windowRows);

/** Whether the window slides when these of its rows are shown: near an end that is not the last. */
export function slidesAt({ first, last }: { first: number; last: number }, total: number, offset: number): boolean {
  if (total <= mostRows) return false;
  const isAtStart = first < margin && offset > 0;
  const isAtEnd = last >= windowRows - margin && offset + windowRows < total;
  return isAtStart || isAtEnd;
}
