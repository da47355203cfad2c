// The limits of one load, so that no load takes the resources that all share.

export const loadLimits = {
  /** Rejected rows that are kept; a load that would reject more fails. */
  rejectedRows: 100_000,
  /** The total size of these, as text. */
  rejectedBytes: 64 * 1024 * 1024,
  /** What a dry run would change, and the total size of it: the first rows, by their key. */
  changedRows: 100_000,
  changedBytes: 16 * 1024 * 1024,
  /** Rejections in the answer. */
  shownRejections: 100,
  /** The time-out of one statement, or of copying a file. */
  statementMinutes: 60,
} as const;
