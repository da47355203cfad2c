// A file that has been staged.
export type Staging = {
  name: string;
  number: number;
  /** The physical table that it is loaded into. */
  target: string;
  rows: number;
  /** Waits until no other load of the table is merging; held until `drop`. */
  lockTable: (tableDefinitionId: number) => Promise<void>;
  /** Drops the staged file and releases the connection. */
  drop: () => Promise<void>;
};
