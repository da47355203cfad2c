// Every limit of the API; each is tested at n and n + 1 (design 3.11, contract Limits).

const KB = 1024;
const MB = 1024 * KB;

export const limits = {
  jsonBodyBytes: MB,
  /** Of rows in one answer. */
  answerBytes: 32 * MB,
  mappingBodyBytes: 256 * KB,
  /** A message of the payment provider. */
  webhookBytes: 64 * KB,
  /** What programs keep for a user, as JSON. */
  preferencesBytes: 16 * KB,
  /** The state of a saved view, as JSON. */
  viewStateBytes: 64 * KB,
  /** Saved views of one user on one table. */
  viewsPerUser: 100,
  jsonDepth: 20,
  headerBytes: 16 * KB,
  urlBytes: 8 * KB,
  filterConditions: 100,
  sorts: 10,
  /** Of `q` in queries of rows. */
  searchWords: 10,
  /** Of the text that is searched for everywhere, in characters. */
  searchMinimum: 2,
  searchMaximum: 100,
  /** In the answer of a search. */
  rowsFoundPerTable: 5,
  itemsFoundPerKind: 10,
  /** Columns by which rows are grouped, and what is computed of each group. */
  groupColumns: 3,
  aggregates: 20,
  idsPerDelete: 1000,
  operationsPerBatch: 1000,
  operationsPerChangeRequest: 100_000,
  /** In one request. */
  decisionsPerRequest: 100,
  /** That a filter or a request names, to be changed, deleted or undone at once. */
  rowsPerSetWrite: 100_000,
  labelsPerRequest: 1000,
  /** By foreign key; more are not counted. */
  countedReferences: 100_000,
  /** In one answer; a body can have far more problems than a person reads. */
  problems: 100,
  columnsPerTable: 200,
  /** Copied to a new branch at once. */
  tablesPerCopy: 200,
  /** PostgreSQL indexes 32 columns; one of them marks deleted rows. */
  keyColumnsPerTable: 31,
  nameCodePoints: 255,
  descriptionCodePoints: 10_000,
  textCellBytes: MB,
  /** Of the rejected rows of an import table, corrected in place; more are for the file itself. */
  correctedRowsPerImportTable: 1000,
  uploadBytes: 5 * KB * MB,
  openImportsPerAccount: 10,
  openExportsPerAccount: 10,
  /** Which rows and columns an export has, as JSON. */
  exportCriteriaBytes: 32 * KB,
  /** Those that are neither applied, rejected nor cancelled. */
  openChangeRequestsPerBranch: 1000,
  commentsPerChangeRequest: 1000,
  perPageDefault: 100,
  perPageMaximum: 1000,
  gridRows: 1000,
  /** Of a feed in one answer. */
  changesPerPage: 1000,
  /** Of a feed: those of a record among so many are one change. */
  changesPerWindow: 10_000,
  /** Of a timeline in one answer. */
  timelineBuckets: 1000,
  int4: 2_147_483_647,
} as const;
