// Deleting more than half of the rows of a table is seldom meant.

type Deletion = {
  deleted: number;
  /** How many rows the table has; undefined where it is not known. */
  live: number | undefined;
  /** Whether the import may delete so many. */
  isAllowed: boolean;
};

/** Whether an import would delete more than half of the rows. Unknown: whether it may. */
export function isMassDeletion({ deleted, live, isAllowed }: Deletion): boolean {
  return deleted > 0 && (live === undefined ? isAllowed : deleted * 2 > live);
}

/** Whether what was typed is the number, with or without signs between its digits. */
export function isTypedNumber(typed: string, wanted: number): boolean {
  return typed.replaceAll(/[\s.,'’]/g, '') === String(wanted);
}
