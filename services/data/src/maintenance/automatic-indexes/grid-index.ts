// The indexes that make pages of large tables fast, and which of them a page would use. Pure.

import {
  type Filter,
  hasLabel,
  isTextSearch,
  type PagePlan,
  type RowSelection,
  type Sort,
  type Test,
  testsOf,
} from '../../pages/filter.ts';
import { directionSql, foldedSql } from '../../pages/filter-sql.ts';
import { type Field, fieldsOf, systemFields } from '../../rows/fields.ts';
import { gridIndexName, gridStatisticsName, tableName } from '../../sql/identifiers.ts';
import type { DeployedTable } from '../../tables/table.ts';

/**
 * By the column, then svc_sk, read from either end; or by the groups of three letters in its text.
 * All of live rows only.
 */
export const kinds = ['ascending', 'descending', 'words'] as const;
export type Kind = (typeof kinds)[number];

/**
 * An index of a table. `equal`: rows are sorted first by this column, texts without case, for pages
 * of the rows with one value there.
 */
export type GridIndex = { field: Field; kind: Kind; equal?: Field };

type FieldTest = { field: Field; test: Test };

const last = systemFields[0] as Field;

// A longer value wouldn't fit into a page of the index, and its row couldn't be written: at most
// four bytes a character.
const maxTextLength = 600;

/** Whether such an index is possible. */
export function isPossible({ field, kind, equal }: GridIndex): boolean {
  if (field.label) return false;
  if (kind === 'words') return field.type.family === 'text' && field.column !== undefined;
  const lengths = [field, ...(equal ? [equal] : [])].map(lengthOf);
  return lengths.reduce((sum, length) => sum + length, 0) <= maxTextLength;
}

// The length of a text; other values are short, except JSON, which has no order.
function lengthOf({ type, column }: Field): number {
  if (type.family === 'json') return Number.POSITIVE_INFINITY;
  if (type.family !== 'text') return 0;
  return (column?.data_type === 'string' ? column.length : null) ?? Number.POSITIVE_INFINITY;
}

/** The indexes that would serve this page. */
export function indexesFor({ filter, sorts, includeDeleted }: RowSelection & Pick<PagePlan, 'sorts'>): GridIndex[] {
  if (includeDeleted) return [];
  const order = orderOf(sorts);
  const pairs = order
    ? equalitiesOf(filter).map((each) => ({ each, pair: simplest({ ...order, equal: each.field }) }))
    : [];
  const possible = pairs.filter(({ pair }) => isPossible(pair));
  const paired = new Set(possible.map(({ each }) => each.test));
  const single = indexableTests(filter).filter(({ test }) => !paired.has(test));
  const orders = order && possible.length === 0 ? [order] : [];
  const wanted = [...possible.map(({ pair }) => pair), ...orders, ...single.flatMap(indexFor)];
  return [...new Map(wanted.map((index) => [nameOf(index), index])).values()].filter(isPossible);
}

// Where one of several conditions is on a label, the others are found by indexes only in a search
// (`pages/page-sql.ts`).
function indexableTests(filter: Filter): FieldTest[] {
  if ('all' in filter) return filter.all.flatMap(indexableTests);
  const tests = testsOf(filter);
  return hasLabel(filter) && !tests.some(isTextSearch) ? [] : tests;
}

/** The same index, or the index of a single column that holds the same rows in the same order. */
export function simplest(index: GridIndex): GridIndex {
  const { field, kind, equal } = index;
  const isSingle = equal !== undefined && field === last && kind === 'ascending' && equal.type.family !== 'text';
  return isSingle ? { field: equal, kind } : index;
}

/**
 * The tests that every row of the page meets and that compare a column with one value that several
 * rows may have.
 */
export function equalitiesOf(filter: Filter): FieldTest[] {
  return 'all' in filter ? filter.all.filter((each): each is FieldTest => 'test' in each && isEquality(each)) : [];
}

/** The index that gives the order of a page; undefined when there can be none. */
export function orderOf([first]: Sort[]): GridIndex | undefined {
  if (first?.absolute || first?.field.label) return undefined;
  return { field: first?.field ?? last, kind: first?.direction === 'desc' ? 'descending' : 'ascending' };
}

function isEquality({ field, test }: FieldTest): boolean {
  if (!field.column || field.column.is_primary_key) return false;
  const { family } = field.type;
  switch (test.kind) {
    case 'text':
      return test.operator === 'equals' && family === 'text';
    case 'number':
      return test.operator === 'equals';
    case 'day':
      return test.operator === 'equals' && family === 'date';
    case 'value':
      return test.operator === 'equals' && family !== 'text';
    default:
      return false;
  }
}

const nameOf = ({ field, kind, equal }: GridIndex) => `${kind} ${field.name} ${equal?.name ?? ''}`;

function indexFor({ field, test }: { field: Field; test: Test }): GridIndex[] {
  switch (test.kind) {
    case 'text':
      if (test.operator === 'equals' && field.type.family === 'text') return [{ field, kind: 'ascending' }];
      return isTextSearch({ field, test }) ? [{ field, kind: 'words' }] : [];
    case 'number':
    case 'day':
    case 'value':
      return test.operator === 'notEqual' ? [] : [{ field, kind: 'ascending' }];
    case 'blank':
    case 'null':
      return test.negated || field.type.family === 'text' ? [] : [{ field, kind: 'ascending' }];
    default:
      return [{ field, kind: 'ascending' }];
  }
}

/** The number of a column in the list of requested indexes. */
export function columnIdOf(field: Field): number {
  return field.column?.lineage_id ?? -1 - systemFields.indexOf(field);
}

/** The number of the column that orders rows by their creation. */
export const byCreation = columnIdOf(last);

/** The column of that number; undefined when the table no longer has it. */
export function findField(table: Pick<DeployedTable, 'structure'>, columnId: number): Field | undefined {
  return columnId < 0
    ? systemFields[-1 - columnId]
    : [...fieldsOf(table).values()].find((field) => field.column?.lineage_id === columnId);
}

type Place = Pick<DeployedTable, 'branch_id' | 'lineage_id'>;

/** Its physical name, without the schema. */
export const indexName = ({ lineage_id }: Place, { field, kind, equal }: GridIndex): string =>
  gridIndexName(lineage_id, { kind, columnId: columnIdOf(field), equalId: equal && columnIdOf(equal) });

/**
 * How PostgreSQL records the order of its column (`pg_index.indoption`): 1 descending, 2 nulls
 * first.
 */
export function orderOptionOf({ field, kind }: GridIndex): number {
  if (kind === 'words') return 0;
  const descending = kind === 'descending';
  return (descending ? 1 : 0) | (field.nullable === descending ? 0 : 2);
}

/** The statement that makes it beside readers and writers. */
export function createIndexSql(table: Place, index: GridIndex): string {
  const { field, kind, equal } = index;
  const live = `on ${tableName(table)}`;
  const create = `create index concurrently ${indexName(table, index)} ${live}`;
  // The operator class is found in the schema of the extension, see `trigrams.ts`.
  if (kind === 'words')
    return `${create} using gin (${foldedSql(field)} gin_trgm_ops) with (gin_pending_list_limit = 512) where not svc_is_deleted`;
  const column = `${field.sql} ${directionSql(kind === 'ascending', field.nullable)}`;
  const columns = [equal ? [equalSql(equal)] : [], column, field === last ? [] : [last.sql]].flat();
  return `${create} (${columns.join(', ')}) where not svc_is_deleted`;
}

// In the form in which a filter compares it.
const equalSql = (field: Field) => (field.type.family === 'text' ? foldedSql(field) : field.sql);

/**
 * Statistics from which the planner estimates how many rows hold a word: whether to use the index
 * by words, or to follow the order of the page. None for other kinds.
 */
export function statisticsSql(table: Place, { field, kind }: GridIndex): string[] {
  if (kind !== 'words') return [];
  const name = gridStatisticsName(table, columnIdOf(field));
  return [
    `drop statistics if exists ${name}`,
    `create statistics ${name} on (${foldedSql(field)}) from ${tableName(table)}`,
  ];
}

/** The statement that updates the statistics of a table after its indexes have changed. */
export const analyzeSql = (table: Place): string => `analyze ${tableName(table)}`;
