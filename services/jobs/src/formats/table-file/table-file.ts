// What a file with rows looks like to an import, whatever its format: a header, and the rows as CSV for the data service.
import type { FileFormat } from './file-format.ts';

/** Columns that a file may have. */
export const maxFileColumns = 1000;

/** A longer record is a file error: an unclosed quote must not collect gigabytes in memory. */
export const maxRecordBytes = 16 * 1024 * 1024;

/** A column of the file that goes to one of the table. `formatted`: a mapping says in which format its texts hold dates. */
export type Place = { target: string; dataType: string; formatted?: boolean };

export type Layout = {
  delimiter: string;
  /** One character; U+0001: nothing is quoted. */
  quote: string;
  /** Rows bring their numbers and problems along (`staged-rows.ts`). */
  numbered: boolean;
  /** The number of the first row, when they don't. The header of a sheet or a CSV file is row 1, as spreadsheets count. */
  first_row: number;
};

export type TableFile = {
  format: FileFormat;
  layout: Layout;
  /** Names as the file has them. */
  header: string[];
  /** The rows in chunks of at most 256 kB; `places` has an entry for each column of the header, undefined: left out. */
  rows(places: readonly (Place | undefined)[]): AsyncGenerator<Uint8Array>;
  /** How many rows have passed. */
  rowsSeen(): number;
  /** Lets go of the source. */
  close(): Promise<void>;
};

/** The bytes of a file that was sent, which can be read again and in parts. */
export type FileSource = {
  size: number;
  /** From the beginning to the end. */
  open(): AsyncIterable<Uint8Array>;
  /** From one byte up to another, which is not part of it. */
  range(start: number, end: number): AsyncIterable<Uint8Array>;
  /** Keeps bytes as a file of its own until the work is over. */
  keep(bytes: AsyncIterable<Uint8Array>): Promise<FileSource>;
};

/** The bytes could not be had: no fault of the file. Whoever asked for them knows why. */
export class SourceFailed extends Error {}
