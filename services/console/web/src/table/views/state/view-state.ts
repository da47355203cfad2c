// The state of a saved view. Other programs may save views too, so what cannot be read is left out.
import { type ColumnLayout, distinct, placeOf, readLayout, writeLayout } from '../../../address/column-layout.ts';
import {
  type Filters,
  readFilters,
  readSort,
  readText,
  type SortOrder,
  type ViewMembers,
  writeFilters,
  writeSort,
} from '../../../address/view.ts';

export type ViewState = { q?: string; filters?: Filters; sort?: SortOrder[]; columns?: ColumnLayout };

/** What a saved view keeps of what one sees. */
export function stateOf({ q, filter, sort, columns }: ViewMembers): ViewState {
  return {
    ...(q !== undefined && { q }),
    ...(filter !== undefined && { filters: readFilters(filter) }),
    ...(sort !== undefined && { sort: readSort(sort) }),
    ...(columns !== undefined && { columns: readLayout(columns) }),
  };
}

/** The new state of a view: what other programs keep in it stays. */
export function updatedState(before: Record<string, unknown>, shown: ViewMembers): Record<string, unknown> {
  const { q, filters, sort, columns, ...others } = before;
  return { ...others, ...stateOf(shown) };
}

/** What a saved state shows. */
export function membersOf(state: Record<string, unknown>): ViewMembers {
  const { q, filters, sort, columns } = state;
  return {
    q: readText(q),
    filter: writeFilters(readFilters(JSON.stringify(filters))),
    sort: writeSort(list(sort).map(readOrder).filter(isDefined)),
    columns: writeLayout(distinct(list(columns).map(readPlace).filter(isDefined))),
  };
}

/** The columns that a view filters or sorts by, and that the table no longer has. */
export function missingColumns({ filter, sort }: ViewMembers, names: readonly string[]): string[] {
  const used = [...Object.keys(readFilters(filter)), ...readSort(sort).map(({ column }) => column)];
  return [...new Set(used)].filter((name) => !name.startsWith('svc_') && !names.includes(name));
}

/** What a view shows without some columns. */
export function withoutColumns(members: ViewMembers, names: readonly string[]): ViewMembers {
  if (names.length === 0) return members;
  const filters = Object.entries(readFilters(members.filter)).filter(([name]) => !names.includes(name));
  const sort = readSort(members.sort).filter(({ column }) => !names.includes(column));
  return { ...members, filter: writeFilters(Object.fromEntries(filters) as Filters), sort: writeSort(sort) };
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isDefined = <T>(value: T | undefined): value is T => value !== undefined;

// A list of names alone is an order of columns.
const readPlace = (value: unknown) => placeOf(typeof value === 'string' ? { column: value } : value);

function readOrder(value: unknown): SortOrder | undefined {
  const { column, direction } = (value ?? {}) as Record<string, unknown>;
  if (typeof column !== 'string' || column === '') return undefined;
  return { column, direction: direction === 'desc' ? 'desc' : 'asc' };
}
