// A range of cells: a rectangle of rows and columns. Pure.

/** A cell: its column, and its row by its place in the view; one of the new rows is `isNew`. */
export type GridPlace = { column: string; row: number; isNew: boolean };

/** Rows from `top` to `bottom`, both within it, and columns in the order of the grid. */
export type CellRange = { isNew: boolean; top: number; bottom: number; columns: string[] };

/** A range whose values go into the cells beside it. */
export type RangeFill = { source: CellRange; target: CellRange };

/** What moves within: the columns in their order, the last row, and how many rows are in view. */
export type GridBounds = { order: readonly string[]; lastRow: number; pageRows: number };

export const rowsOf = ({ top, bottom }: CellRange): number => bottom - top + 1;

/** The range with all rows so many further down; new rows count for themselves. */
export function movedDown(range: CellRange, rows: number): CellRange {
  return range.isNew ? range : { ...range, top: range.top + rows, bottom: range.bottom + rows };
}

export const cellsOf = (range: CellRange): number => rowsOf(range) * range.columns.length;

/** The range between two cells, whichever comes first. */
export function rangeBetween(one: GridPlace, other: GridPlace, order: readonly string[]): CellRange {
  const [left = 0, right = 0] = ascending(order.indexOf(one.column), order.indexOf(other.column));
  const [top = 0, bottom = 0] = ascending(one.row, other.row);
  return { isNew: one.isNew, top, bottom, columns: order.slice(Math.max(0, left), right + 1) };
}

/** Whether a cell is within the range. */
export function isWithin({ isNew, top, bottom, columns }: CellRange, place: GridPlace): boolean {
  return place.isNew === isNew && place.row >= top && place.row <= bottom && columns.includes(place.column);
}

/**
 * Where a key leads from a cell; undefined for a key that leads nowhere. `isFar` goes to the last
 * cell in that direction.
 */
export function movedBy(
  key: string,
  from: GridPlace,
  isFar: boolean,
  { order, lastRow, pageRows }: GridBounds,
): GridPlace | undefined {
  const column = order.indexOf(from.column);
  const toRow = (row: number) => ({ ...from, row: Math.max(0, Math.min(lastRow, row)) });
  const toColumn = (place: number) => ({
    ...from,
    column: order[Math.max(0, Math.min(order.length - 1, place))] ?? from.column,
  });
  if (key === 'ArrowDown') return toRow(isFar ? lastRow : from.row + 1);
  if (key === 'ArrowUp') return toRow(isFar ? 0 : from.row - 1);
  if (key === 'PageDown') return toRow(from.row + pageRows);
  if (key === 'PageUp') return toRow(from.row - pageRows);
  if (key === 'ArrowRight') return toColumn(isFar ? order.length - 1 : column + 1);
  if (key === 'ArrowLeft') return toColumn(isFar ? 0 : column - 1);
  if (key === 'Home') return toColumn(0);
  if (key === 'End') return toColumn(order.length - 1);
  return undefined;
}

/**
 * The cells into which a range is filled when its corner is dragged to a cell: rows below or above
 * it, else columns beside it; undefined within the range.
 */
export function fillTarget(source: CellRange, to: GridPlace, order: readonly string[]): CellRange | undefined {
  if (to.row > source.bottom) return { ...source, top: source.bottom + 1, bottom: to.row };
  if (to.row < source.top) return { ...source, top: to.row, bottom: source.top - 1 };
  const [left = 0, right = 0] = [source.columns.at(0), source.columns.at(-1)].map((name) => order.indexOf(name ?? ''));
  const column = order.indexOf(to.column);
  if (column > right) return { ...source, columns: order.slice(right + 1, column + 1) };
  if (column >= 0 && column < left) return { ...source, columns: order.slice(column, left) };
  return undefined;
}

/** The first row of a range into the rest of it, or its first column; undefined without a rest. */
export function fillWithin(range: CellRange, direction: 'down' | 'right'): RangeFill | undefined {
  const { top, bottom, columns } = range;
  if (direction === 'down' && bottom > top)
    return { source: { ...range, bottom: top }, target: { ...range, top: top + 1 } };
  if (direction === 'right' && columns.length > 1)
    return { source: { ...range, columns: columns.slice(0, 1) }, target: { ...range, columns: columns.slice(1) } };
  return undefined;
}

/** A copied block as often as it fits into a range; as it is where it doesn't. */
export function repeatedInto(cells: string[][], range: CellRange | undefined): string[][] {
  const width = Math.max(0, ...cells.map((line) => line.length));
  if (!range || width === 0) return cells;
  const [down, across] = [rowsOf(range) / cells.length, range.columns.length / width];
  if (!Number.isInteger(down) || !Number.isInteger(across)) return cells;
  const wide = cells.map((line) => {
    const padded = Array.from({ length: width }, (_, place) => line[place] ?? '');
    return Array.from({ length: across }, () => padded).flat();
  });
  return Array.from({ length: down }, () => wide).flat();
}

const ascending = (one: number, other: number) => (one <= other ? [one, other] : [other, one]);
