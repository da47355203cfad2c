// What a view of a table shows, as its address has it: every view is a link.

import type { Schemas } from '../api/client.ts';
import { readLayout, writeLayout } from './column-layout.ts';

export type SortOrder = { column: string; direction: 'asc' | 'desc' };

/** The filters of columns by name, in the model of AG Grid. */
export type Filters = NonNullable<Schemas['QueryGridRequest']['filterModel']>;

/** What a saved view keeps. */
export type ViewMembers = {
  q?: string | undefined;
  /** JSON of the filters. */
  filter?: string | undefined;
  /** `name,-code`. */
  sort?: string | undefined;
  /** `code,name:240,area:hidden`. */
  columns?: string | undefined;
};

export const viewMembers = ['q', 'filter', 'sort', 'columns'] as const satisfies (keyof ViewMembers)[];

/** With a saved view the members are what differs from it. */
export type TableView = ViewMembers & {
  /** The saved view, or `all` for all rows where the table would open with a saved view. */
  view?: number | 'all' | undefined;
  /** The members of the saved view that are left out: `filter,sort`. */
  without?: string | undefined;
  as_of?: string | undefined;
  /** The `svc_sk` of the row in the panel. */
  row?: number | undefined;
};

/** The view of an address. What cannot be read is left out: an old link still opens the table. */
export function readView(search: Record<string, unknown>): TableView {
  return {
    q: readText(search.q),
    filter: writeFilters(readFilters(readText(search.filter))),
    sort: writeSort(readSort(readText(search.sort))),
    columns: writeLayout(readLayout(readText(search.columns))),
    view: search.view === 'all' ? 'all' : readId(search.view),
    without: writeWithout(readWithout(readText(search.without))),
    as_of: readInstant(search.as_of),
    row: readId(search.row),
  };
}

/** The id of the branch of an address; undefined for the default branch. */
export function readBranch(search: Record<string, unknown>): number | undefined {
  return readId(search.branch);
}

/** The members of the query part of an address. */
export function readSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** The query part of an address, with its question mark; without members it is empty. */
export function writeSearch(search: Record<string, unknown>): string {
  const members = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(members.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

export function readFilters(filter: string | undefined): Filters {
  const value = filter === undefined ? undefined : parse(filter);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  // Beyond this the server checks them: it names what it refuses.
  const models = Object.entries(value).filter(([, model]) => typeof model === 'object' && model !== null);
  return Object.fromEntries(models) as Filters;
}

/** Undefined without filters, so that the address has no empty member. */
export function writeFilters(filters: Filters): string | undefined {
  return Object.keys(filters).length > 0 ? JSON.stringify(filters) : undefined;
}

export function readSort(sort: string | undefined): SortOrder[] {
  return (sort ?? '')
    .split(',')
    .filter((part) => part !== '' && part !== '-')
    .map((part) =>
      part.startsWith('-') ? { column: part.slice(1), direction: 'desc' } : { column: part, direction: 'asc' },
    );
}

export function writeSort(orders: readonly SortOrder[]): string | undefined {
  const parts = orders.map(({ column, direction }) => (direction === 'desc' ? `-${column}` : column));
  return parts.length > 0 ? parts.join(',') : undefined;
}

export function readWithout(text: string | undefined): (keyof ViewMembers)[] {
  const names = (text ?? '').split(',');
  return viewMembers.filter((name) => names.includes(name));
}

export function writeWithout(names: readonly (keyof ViewMembers)[]): string | undefined {
  return names.length > 0 ? names.join(',') : undefined;
}

/** A text that is more than spaces. */
export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function readId(value: unknown): number | undefined {
  const id = Number(value);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

function readInstant(value: unknown): string | undefined {
  const text = readText(value);
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
