// What a fill would change, before it does. Pure: the rows are given.
import type { Column, Row } from '../../api/queries.ts';
import { isNumeric, plainText, validValues } from '../../cells/cell-text.ts';
import type { RangeFill } from '../../grid/range/cell-range.ts';
import { type CellChange, type EditPlan, isSame } from '../edits.ts';
import { type Counted, continued } from './series.ts';

type FillRows = {
  /** The columns that may be written, by name. */
  columns: ReadonlyMap<string, Column>;
  /** All columns as they are shown. */
  order: readonly string[];
  source: readonly Row[];
  target: readonly Row[];
  /** A row with the edits that it has already. */
  shown: (row: Row) => Row;
};

/**
 * The plan of a fill. Down and up, the values of each column go on from row to row; to the side,
 * those of each row are repeated from column to column.
 */
export function planFill({ source, target }: RangeFill, rows: FillRows): EditPlan {
  const isVertical = target.top > source.bottom || target.bottom < source.top;
  const filled = isVertical
    ? target.columns.flatMap((name) => downColumn(name, target.bottom < source.top, rows))
    : acrossRows({ source, target }, rows);
  const changes = filled.filter(({ row, column, value }) => !isSame(rows.shown(row)[column], value));
  return { changes, created: [], unchanged: rows.target.length - new Set(changes.map(({ row }) => row)).size };
}

function downColumn(name: string, isUp: boolean, { columns, source, target, shown }: FillRows): CellChange[] {
  const column = columns.get(name);
  if (!column) return [];
  const [from, to] = isUp ? [source.toReversed(), target.toReversed()] : [source, target];
  const values = continued(
    from.map((row) => shown(row)[name] ?? null),
    to.length,
    countedAs(column),
  );
  const labels = new Map(from.map((row) => [plainText(shown(row)[name]), labelOf(shown(row), name)]));
  return to.map((row, place) => ({
    row,
    column: name,
    value: values[place],
    label: labels.get(plainText(values[place])),
  }));
}

function acrossRows({ source, target }: RangeFill, { columns, order, target: rows, shown }: FillRows): CellChange[] {
  const count = source.columns.length;
  // To the left they begin with the last, which stands beside the last that is filled.
  const isLeft =
    target.columns.length > 0 && order.indexOf(target.columns[0] ?? '') < order.indexOf(source.columns[0] ?? '');
  const first = isLeft ? count - (target.columns.length % count) : 0;
  const repeated = (place: number) => source.columns[(first + place) % count] ?? '';
  return rows.flatMap((row) =>
    target.columns.flatMap((name, place): CellChange[] => {
      const from = columns.get(repeated(place));
      const to = columns.get(name);
      if (!from || !to) return [];
      const value = shown(row)[from.name] ?? null;
      const isAlike = from.data_type === to.data_type && from.foreign_key_table_id === to.foreign_key_table_id;
      // Of another type it is a text, which the server judges.
      return [
        isAlike
          ? { row, column: name, value, label: labelOf(shown(row), from.name) }
          : { row, column: name, value: value === null ? null : plainText(value) },
      ];
    }),
  );
}

// References, chosen values, times and identifiers are no series.
function countedAs(column: Column): Counted {
  if (column.foreign_key_table_id !== null || validValues(column).length > 0) return undefined;
  if (isNumeric(column)) return 'numbers';
  if (column.data_type === 'date') return 'days';
  return column.data_type === 'string' || column.data_type === 'text' ? 'texts' : undefined;
}

function labelOf(row: Row, column: string): string | undefined {
  const label = row.svc_lookups?.[column];
  return label === undefined || label === null ? undefined : plainText(label);
}
