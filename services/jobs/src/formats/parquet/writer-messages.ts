// The messages between an export and the process that writes its Parquet file
// (`writer-process.ts`).

/** `type` is DuckDB's. `rowBytes`: a longer row fails the writer. */
export type WriteRequest = {
  /** Contains the two named pipes, and is removed with them. */
  folder: string;
  input: string;
  output: string;
  columns: { name: string; type: string }[];
  rowBytes: number;
};

export type WriterMessage = { type: 'written' } | { type: 'failed'; problem: string; tooLong: boolean };
