// How the columns of a file fill the columns of a table.
import type { Column } from '../../tables/table.ts';
import type { CellReading } from './cell-reading.ts';
import type { Lookup } from './lookups.ts';
import type { ValueMap } from './value-maps.ts';

/** A file column that fills a table column; with a lookup its cells name records of another table. */
export type Source = {
  column: Column;
  /** The cell as the file has it. */
  position: number;
  /** The cell that is read: the same, or what it stands for. */
  cell: number;
  reading: CellReading;
  unknown?: ValueMap['unknown'];
  lookup?: Lookup;
};
export type LoadPlan = {
  sources: Source[];
  key: Source[];
  codePosition: number | undefined;
  /** Where rows say which row they were made of, and in which version. */
  versions: { sk: number; version: number } | undefined;
  numbered: boolean;
  /** What is not in the file goes. */
  replaces: boolean;
};
