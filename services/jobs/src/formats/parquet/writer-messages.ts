// What an export and the process that writes its Parquet file (`parquet-writer.ts`) say to each other.

/** `type`: DuckDB's. `rowBytes`: no row of the input is longer, or the writer fails. */
export type ParquetOrder = {
  /** Holds the two named pipes, and goes with them. */
  folder: string;
  input: string;
  output: string;
  columns: { name: string; type: string }[];
  rowBytes: number;
};

export type FromParquetWriter = { type: 'written' } | { type: 'failed'; problem: string; tooLong: boolean };
