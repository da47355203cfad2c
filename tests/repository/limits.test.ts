// Every limit of packages/service-kit/src/limits.ts is tested at n and at n + 1. A new limit is a
// type error here until it names its test.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { limits } from '@almanac/service-kit/limits';

const root = resolve(import.meta.dirname, '../..');
const kit = (name: string) => `packages/service-kit/src/${name}.test.ts`;
const tests = (service: string, name: string) => `services/${service}/tests/${name}.test.ts`;

const shownBy = {
  jsonBodyBytes: [
    'packages/service-kit/tests/http-server.test.ts',
    'takes a body of exactly the limit and not a byte more',
  ],
  answerBytes: [tests('data', 'records/answer-size.slow'), 'are refused from the first byte too many'],
  mappingBodyBytes: [tests('jobs', 'import-mappings/import-mappings'), 'refuses a body above 256 kB'],
  webhookBytes: [
    tests('billing', 'payments/webhooks'),
    'accepts a body of the limit and none that is larger, with or without a Content-Length',
  ],
  preferencesBytes: [tests('identity', 'me/me'), 'take 16 kB of JSON and not a byte more'],
  viewStateBytes: [tests('metadata', 'views/views'), 'is a state of 64 kB and not a byte more'],
  viewsPerUser: [tests('metadata', 'views/views'), 'is at most a hundred views of one user on one table'],
  jsonDepth: [kit('api/json-body'), 'takes the deepest allowed nesting and not one level more'],
  headerBytes: [tests('gateway', 'connections/framing'), 'accepts headers of 16 kB and not a byte more'],
  urlBytes: [tests('gateway', 'connections/framing'), 'accepts an address of 8 kB and not a byte more'],
  filterConditions: [kit('api/list-query'), 'takes a hundred conditions and no more'],
  sorts: ['services/data/src/pages/page-sql.test.ts', 'takes ten sorts and no more'],
  searchWords: [tests('data', 'pages/grid-search'), 'takes ten words and no more'],
  searchMinimum: [tests('metadata', 'search'), 'takes 2 to 100 characters'],
  searchMaximum: [tests('metadata', 'search'), 'takes 2 to 100 characters'],
  rowsFoundPerTable: [tests('data', 'search/search'), 'answers five rows of a table and no more'],
  itemsFoundPerKind: [tests('metadata', 'search'), 'answers ten of a kind and no more, and still the very text'],
  groupColumns: [tests('data', 'summaries/groups'), 'take one to three columns and at most twenty aggregates'],
  aggregates: [tests('data', 'summaries/groups'), 'take one to three columns and at most twenty aggregates'],
  idsPerDelete: [tests('data', 'records/rows/changed-rows'), 'takes 1000 ids and no more'],
  operationsPerBatch: [tests('data', 'records/batches/batch'), 'takes 1 to 1,000 operations'],
  operationsPerChangeRequest: [tests('data', 'change-requests/operations'), 'are at most 100,000 in a request'],
  decisionsPerRequest: [tests('data', 'change-requests/decisions'), 'are at most a hundred in a request'],
  rowsPerSetWrite: [tests('data', 'records/sets/where'), 'writes 100,000 rows and no more'],
  labelsPerRequest: [tests('data', 'references/resolve'), 'takes 1 to 1,000 labels'],
  countedReferences: [tests('data', 'references/referring'), 'counts 100,000 records and no more'],
  problems: [tests('data', 'records/batches/problems'), 'lists a hundred problems and says how many more there are'],
  columnsPerTable: [
    tests('metadata', 'table-definitions/table-definitions'),
    'are at most 200, with at most 31 in the key',
  ],
  tablesPerCopy: [tests('metadata', 'branches/branch-copies'), 'takes two hundred tables and no more'],
  keyColumnsPerTable: [
    tests('metadata', 'table-definitions/table-definitions'),
    'are at most 200, with at most 31 in the key',
  ],
  nameCodePoints: [kit('api/input'), 'counts the length of a name in code points'],
  descriptionCodePoints: [kit('api/input'), 'takes a description of ten thousand code points and no more'],
  textCellBytes: ['services/data/tests/value-checks.test.ts', 'takes a %s of 1 MB and not a byte more'],
  correctedRowsPerImportTable: [tests('jobs', 'imports/corrections'), 'at most 1,000 rows of a file'],
  uploadBytes: [
    tests('gateway', 'connections/framing'),
    'refuses an upload whose length exceeds 5 GB before it checks a token',
  ],
  openImportsPerAccount: [tests('jobs', 'imports/imports'), 'can be open at most ten times in an account'],
  openExportsPerAccount: [
    tests('jobs', 'exports/exports'),
    'is created once for one Idempotency-Key, even when the limit is reached in between',
  ],
  exportCriteriaBytes: [tests('jobs', 'exports/export-criteria'), 'are at most 32 kB of JSON'],
  openChangeRequestsPerBranch: [
    tests('metadata', 'changes/change-requests/change-requests'),
    'are at most a thousand open ones on a branch',
  ],
  commentsPerChangeRequest: [
    tests('metadata', 'changes/change-requests/change-request-comments'),
    'are at most a thousand',
  ],
  perPageDefault: [kit('api/list-query'), 'has the contract defaults'],
  perPageMaximum: [kit('api/list-query'), 'serves at most 1000 a page'],
  gridRows: [tests('data', 'pages/grid'), 'gives a thousand rows and no more, from anywhere'],
  changesPerPage: [tests('data', 'changes/pages'), 'take 1 to 1,000 changes'],
  changesPerWindow: [tests('data', 'changes/pages'), 'net the changes of a record among ten thousand, not of more'],
  timelineBuckets: [tests('data', 'differences/activity'), 'counts a thousand buckets and no more'],
  int4: [kit('api/list-query'), 'compares a whole number with the largest there can be and no larger one'],
} satisfies Record<keyof typeof limits, [file: string, test: string]>;

it.each(Object.entries(shownBy))('%s is shown by an existing test', (_limit, [file, title]) => {
  expect(readFileSync(join(root, file), 'utf8')).toContain(`('${title}'`);
});

it('there is one for each limit', () => {
  expect(Object.keys(shownBy)).toEqual(Object.keys(limits));
});
