// How far one load may go, so that none takes what all need.

export const loadLimits = {
  /** Rejected rows that are kept; a load that would reject more fails. */
  rejectedRows: 100_000,
  /** What these may hold together, as text. */
  rejectedBytes: 64 * 1024 * 1024,
  /** Rejections in the answer. */
  shownRejections: 100,
  /** One statement, or the copying of a file. */
  statementMinutes: 60,
} as const;
