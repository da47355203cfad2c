// A file of rows as an import sees it, whatever its format: a header, and the rows as CSV for data.
import type { FileFormat } from './file-format.ts';

/** Columns that a file may have. */
export const maxFileColumns = 1000;

/** A longer record is a file error: an unclosed quote must not collect gigabytes in memory. */
export const maxRecordBytes = 16 * 1024 * 1024;

/**
 * The column of the table that a file column goes to. `formatted`: the mapping has a date format
 * for it.
 */
export type ColumnTarget = { target: string; dataType: string; formatted?: boolean };

export type Layout = {
  delimiter: string;
  /** One character; U+0001: nothing is quoted. */
  quote: string;
  /** Rows carry their numbers and problems (`staged-rows.ts`). */
  numbered: boolean;
  /**
   * The number of the first row, otherwise. The header of a sheet or a CSV file is row 1, as in
   * spreadsheet programs.
   */
  first_row: number;
};

export type TableFile = {
  format: FileFormat;
  layout: Layout;
  /** Names as the file has them. */
  header: string[];
  /**
   * The rows in chunks of at most 256 kB. `targets` has an entry for each column of the header;
   * undefined: ignored.
   */
  rows(targets: readonly (ColumnTarget | undefined)[]): AsyncGenerator<Uint8Array>;
  /** The number of rows read so far. */
  rowsRead(): number;
  /** Releases the source. */
  close(): Promise<void>;
};

/** The bytes of an uploaded file, readable repeatedly and in ranges. */
export type FileSource = {
  size: number;
  /** From the beginning to the end. */
  open(): AsyncIterable<Uint8Array>;
  /** From one byte up to, not including, another. */
  range(start: number, end: number): AsyncIterable<Uint8Array>;
  /** Stores bytes as a temporary file that lives until the work ends. */
  spool(bytes: AsyncIterable<Uint8Array>): Promise<FileSource>;
};

/** The source failed, which is no fault of the file. The caller knows the reason. */
export class SourceFailed extends Error {}
