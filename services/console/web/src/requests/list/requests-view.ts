// What the list of requests shows, as its address has it.
import { readText } from '../../address/view.ts';

/** What is reviewed: changes of rows, and of what is deployed. */
export const changeKinds = ['change_request', 'promotion', 'deployment'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** The states of all kinds; each kind has its own names for some. */
export const listedStates = [
  'draft',
  'requested',
  'changes_requested',
  'approved',
  'under_way',
  'done',
  'failed',
  'rejected',
  'cancelled',
] as const;
export type ListedState = (typeof listedStates)[number];

/** Without a `tab` it shows what waits for the person. */
export type RequestsView = {
  tab?: 'mine' | 'all' | undefined;
  kind?: ChangeKind | undefined;
  state?: ListedState | undefined;
  q?: string | undefined;
};

/** The view of an address. What cannot be read is left out. */
export function readRequestsView(search: Record<string, unknown>): RequestsView {
  const tab = search.tab === 'mine' || search.tab === 'all' ? search.tab : undefined;
  const kind = changeKinds.find((one) => one === search.kind);
  const state = listedStates.find((one) => one === search.state);
  const q = readText(search.q);
  return { ...(tab && { tab, ...(kind && { kind }), ...(state && { state }) }), ...(q && { q }) };
}
