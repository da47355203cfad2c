// What the list of change requests shows, as its address has it.
import { readId, readText } from '../../address/view.ts';
import type { Status } from '../queries.ts';

export const statuses = [
  'draft',
  'requested',
  'changes_requested',
  'approved',
  'applying',
  'applied',
  'failed',
  'rejected',
  'cancelled',
] as const satisfies Status[];

/** Without a `tab` it shows what waits for the person. */
export type RequestsView = {
  tab?: 'mine' | 'all' | undefined;
  status?: Status | undefined;
  q?: string | undefined;
  /** From 2 on: the first page is the list itself. */
  page?: number | undefined;
};

/** The view of an address. What cannot be read is left out. */
export function readRequestsView(search: Record<string, unknown>): RequestsView {
  const tab = search.tab === 'mine' || search.tab === 'all' ? search.tab : undefined;
  const page = readId(search.page);
  const q = readText(search.q);
  // What waits for the person is one short list: it has no states and no pages.
  if (tab === undefined) return { q };
  return {
    tab,
    q,
    status: statuses.find((status) => status === search.status),
    page: page === 1 ? undefined : page,
  };
}
