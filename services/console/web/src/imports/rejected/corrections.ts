// What is corrected of the rejected rows of a file, until it is sent. Pure.
import type { FileColumn, RejectedRow } from './rejected-rows-query.ts';

/** The texts that were entered, by the number of the row and the position of the column. */
export type Corrections = ReadonlyMap<number, ReadonlyMap<number, string>>;

/** A cell that was entered; one that is again as the file has it is no correction. */
export function withCell(corrections: Corrections, { row, cells }: RejectedRow, position: number, text: string) {
  const entered = new Map(corrections.get(row));
  if (text === (cells[position] ?? '')) entered.delete(position);
  else entered.set(position, text);
  const next = new Map(corrections);
  if (entered.size === 0) next.delete(row);
  else next.set(row, entered);
  return next;
}

/** What the API takes: cells by the names of the file's columns. An empty field is no value. */
export const bodyOf = (corrections: Corrections, columns: readonly FileColumn[]) => ({
  rows: [...corrections].map(([row, entered]) => ({
    row,
    cells: Object.fromEntries([...entered].map(([at, text]) => [columns[at]?.name ?? '', text === '' ? null : text])),
  })),
});

/**
 * The positions of the columns that something is wrong with, in the order of the file; all that are
 * loaded, when it is the row as a whole.
 */
export function wrongColumns({ problems }: RejectedRow, columns: readonly FileColumn[]): number[] {
  // The problem of a key of several columns names them all.
  const named = new Set(problems.flatMap(({ column }) => column.split(', ')));
  const loaded = columns.flatMap(({ target }, position) => (target === null ? [] : [position]));
  const wrong = loaded.filter((position) => named.has(columns[position]?.target ?? ''));
  return wrong.length > 0 && !named.has('') ? wrong : loaded;
}
