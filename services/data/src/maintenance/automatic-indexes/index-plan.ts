// Which indexes to make and to drop: few for each table, those that pages request most. Pure.

import { schemaName } from '../../sql/identifiers.ts';
import type { DeployedTable } from '../../tables/table.ts';
import {
  byCreation,
  columnIdOf,
  findField,
  type GridIndex,
  indexName,
  isPossible,
  type Kind,
  orderOptionOf,
  simplest,
} from './grid-index.ts';

/** The requests of one index, with what is known of its table. */
export type RequestedIndex = {
  table: DeployedTable;
  rows: number;
  column_id: number;
  kind: Kind;
  /** The column in which rows are equal; 0: none. */
  equal_id: number;
  asked: number;
  /**
   * How many distinct values its columns have (`pg_stats.n_distinct`: negative as a share of the
   * rows); null when unknown.
   */
  distinct: number | null;
  equal_distinct: number | null;
  /** Days since the last request; days since making it failed, if it did. */
  idle_days: number;
  failed_days: number | null;
};

/** An index of the grid as it is in the database. `table`: the physical table. */
export type ExistingIndex = { schema: string; name: string; table: string; valid: boolean; option: number };

export type IndexRules = {
  /** Tables with fewer rows get none. */
  minRows: number;
  /** An index with fewer requests isn't made. */
  minRequests: number;
  perTable: number;
  /** Indexes by words, which cost the most to maintain. */
  wordsPerTable: number;
  idleDays: number;
  retryDays: number;
};

export const indexRules: IndexRules = {
  minRows: 100_000,
  minRequests: 3,
  perTable: 24,
  wordsPerTable: 4,
  idleDays: 14,
  retryDays: 1,
};

export type IndexToMake = { table: DeployedTable; index: GridIndex };
export type IndexPlan = { drop: ExistingIndex[]; make: IndexToMake[] };

/** The plan. `words`: whether the database can index by groups of letters. */
export function planIndexes(
  requests: RequestedIndex[],
  existing: ExistingIndex[],
  rules: IndexRules,
  words: boolean,
): IndexPlan {
  const wanted = new Map<string, IndexToMake & { request: RequestedIndex }>();
  const validNames = new Set(existing.filter(({ valid }) => valid).map(({ schema, name }) => `${schema}.${name}`));
  for (const [, ofTable] of Map.groupBy(mergeEquivalent(requests), (request) => request.table.table_definition_id))
    for (const each of choose(ofTable, validNames, rules, words)) wanted.set(placeOf(each), each);
  const kept = existing.filter((index) => {
    const want = wanted.get(`${index.schema}.${index.name}`);
    return (
      want && index.valid && index.table === `t_${want.table.lineage_id}` && index.option === orderOptionOf(want.index)
    );
  });
  const have = new Set(kept.map((index) => `${index.schema}.${index.name}`));
  return {
    drop: existing.filter((index) => !kept.includes(index)),
    make: [...wanted.values()]
      .filter((each) => !have.has(placeOf(each)) && mayMake(each.request, rules))
      .map(({ table, index }) => ({ table, index })),
  };
}

const maxTies = 1_000;
const maxEqualRows = 200;
const preference = 2;

// Merges requests that one index serves. An index is read from both ends; only the order of ties
// differs, and few ties are sorted at once. So are the few rows with an equal value, whatever the
// order of the page.
function mergeEquivalent(requests: RequestedIndex[]): RequestedIndex[] {
  const merged = new Map<string, RequestedIndex>();
  for (const request of requests) {
    const { rows, equal_id } = request;
    const valuesOf = (distinct: number | null) => (distinct === null ? 1 : distinct < 0 ? -distinct * rows : distinct);
    const isSorted = equal_id !== 0 && rows <= maxEqualRows * valuesOf(request.equal_distinct);
    const kind =
      request.kind === 'descending' && (isSorted || rows <= maxTies * valuesOf(request.distinct))
        ? 'ascending'
        : request.kind;
    const same = simplestRequest({ ...request, column_id: isSorted ? byCreation : request.column_id, kind });
    const key = `${request.table.table_definition_id} ${same.column_id} ${same.kind} ${same.equal_id}`;
    const known = merged.get(key);
    const asked = request.asked + (known?.asked ?? 0);
    const idle_days = Math.min(request.idle_days, known?.idle_days ?? request.idle_days);
    const failed_days = request.failed_days ?? known?.failed_days ?? null;
    merged.set(key, { ...same, asked, idle_days, failed_days });
  }
  return [...merged.values()];
}

function simplestRequest(request: RequestedIndex): RequestedIndex {
  const index = indexOf(request);
  const same = index && simplest(index);
  return same && same !== index ? { ...request, column_id: columnIdOf(same.field), equal_id: 0 } : request;
}

const placeOf = ({ table, index }: IndexToMake) => `${schemaName(table.branch_id)}.${indexName(table, index)}`;

const mayMake = ({ failed_days }: RequestedIndex, { retryDays }: IndexRules) =>
  failed_days === null || failed_days >= retryDays;

// Undefined when the table no longer has one of its columns.
function indexOf({ table, column_id, kind, equal_id }: RequestedIndex): GridIndex | undefined {
  const field = findField(table, column_id);
  if (equal_id === 0) return field && { field, kind };
  const equal = findField(table, equal_id);
  return field && equal && { field, kind, equal };
}

// The most requested, divided by the days since the last request, so that old favourites are
// replaced in time. An existing index counts double, or two similar ones would replace each other
// again and again.
function choose(
  requests: RequestedIndex[],
  validNames: Set<string>,
  rules: IndexRules,
  words: boolean,
): (IndexToMake & { request: RequestedIndex })[] {
  const weight = ({ request, ...each }: IndexToMake & { request: RequestedIndex }) =>
    (request.asked * (validNames.has(placeOf(each)) ? preference : 1)) / (1 + request.idle_days);
  const candidates = requests
    .filter(
      (request) =>
        request.rows >= rules.minRows && request.asked >= rules.minRequests && request.idle_days < rules.idleDays,
    )
    .flatMap((request) => {
      const index = indexOf(request);
      return index && isPossible(index) && (words || index.kind !== 'words')
        ? [{ table: request.table, index, request }]
        : [];
    })
    .toSorted((a, b) => weight(b) - weight(a));
  const others = candidates.filter(({ index }) => index.kind !== 'words');
  const byWords = candidates.filter(({ index }) => index.kind === 'words').slice(0, rules.wordsPerTable);
  return [...byWords, ...others.slice(0, rules.perTable - byWords.length)];
}
