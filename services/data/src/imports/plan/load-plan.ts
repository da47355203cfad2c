// How the columns of a file fill the columns of a table.
import type { Column } from '../../tables/table.ts';
import type { CellReading } from './cell-reading.ts';
import type { Lookup } from './lookups.ts';
import type { ValueMap } from './value-maps.ts';

/**
 * A file column that fills a table column; with a lookup its cells name records of another table.
 */
export type Source = {
  column: Column;
  /** The cell of the file. */
  position: number;
  /** The cell that is read: the same, or the one that a value map fills. */
  cell: number;
  reading: CellReading;
  unknown?: ValueMap['unknown'];
  lookup?: Lookup;
};

export type LoadPlan = {
  sources: Source[];
  key: Source[];
  codePosition: number | undefined;
  /** The cells that name the row a row was made of, and its version. */
  versions: { sk: number; version: number } | undefined;
  numbered: boolean;
  /** Rows that the file lacks are deleted. */
  replaces: boolean;
};
