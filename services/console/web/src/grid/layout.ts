// The layout of columns beside the state that the grid has of them.
import type { ColDef, ColumnState, GridApi } from 'ag-grid-community';
import { type ColumnLayout, type ColumnPlace, completed, unlessUsual } from '../address/column-layout.ts';

type Usual = Pick<ColDef, 'colId' | 'width' | 'pinned'>;

/** The layout in the state of a grid; empty when its columns are as usual. */
export function layoutOf(states: readonly ColumnState[], usual: readonly Usual[]): ColumnLayout {
  const usualOf = new Map(usual.map((column) => [column.colId ?? '', column]));
  const places = states.flatMap(({ colId, width, hide, pinned }): ColumnPlace[] => {
    const column = usualOf.get(colId);
    if (!column) return [];
    const side = sideOf(pinned);
    return [
      {
        column: colId,
        ...(typeof width === 'number' && width !== column.width && { width: Math.round(width) }),
        ...(hide && { hidden: true as const }),
        ...(side !== sideOf(column.pinned) && { pinned: side }),
      },
    ];
  });
  return unlessUsual(places, [...usualOf.keys()]);
}

/** The state of the grid's columns with a layout; columns that it doesn't name come last. */
export function statesOf(layout: ColumnLayout, usual: readonly Usual[]): ColumnState[] {
  const usualOf = new Map(usual.map((column) => [column.colId ?? '', column]));
  return completed(layout, [...usualOf.keys()]).map(({ column, width, hidden, pinned }) => {
    const side = pinned ?? sideOf(usualOf.get(column)?.pinned);
    return {
      colId: column,
      width: width ?? usualOf.get(column)?.width ?? null,
      hide: hidden ?? false,
      pinned: side === 'none' ? null : side,
    };
  });
}

/** Lays the columns of a grid out. */
export function applyLayout<Row>(api: GridApi<Row>, layout: ColumnLayout, columns: readonly ColDef<Row>[]): void {
  const now = layoutOf(api.getColumnState(), columns);
  if (JSON.stringify(now) === JSON.stringify(layout)) return;
  // The column of boxes is the grid's own, and stays first.
  const own = api.getColumnState().filter(({ colId }) => !columns.some((column) => column.colId === colId));
  api.applyColumnState({
    state: [...own.map(({ colId }) => ({ colId })), ...statesOf(layout, columns)],
    applyOrder: true,
  });
}

const sideOf = (pinned: ColDef['pinned']) =>
  pinned === 'right' ? 'right' : pinned === 'left' || pinned === true ? 'left' : 'none';
