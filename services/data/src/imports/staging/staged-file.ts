// A file that has been staged.
export type Staging = {
  name: string;
  number: number;
  /** The physical table it is meant for. */
  target: string;
  rows: number;
  /** Waits until no other load of the table is merging; held until `drop`. */
  lockTable: (tableDefinitionId: number) => Promise<void>;
  /** Drops the table and gives the connection back. */
  drop: () => Promise<void>;
};
