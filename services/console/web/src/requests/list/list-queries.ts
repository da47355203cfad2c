// The lists of what is reviewed: the changes of a branch or of a person, and what waits.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import type { ListedDeployment, ListedPromotion } from '../../changes/change-queries.ts';
import { type ChangeKind, changeKinds, type ListedState, type RequestsView } from './requests-view.ts';

export type ListedRequest = Schemas['ChangeRequest'];
export type ListedChange =
  | { kind: 'change_request'; change: ListedRequest }
  | { kind: 'promotion'; change: ListedPromotion }
  | { kind: 'deployment'; change: ListedDeployment };

export const pageSize = 50;

/** Whose changes: those to a branch, or those that a person has proposed on any branch. */
export type Scope = { branch_id: number } | { created_by: number };

/** Changes of all kinds, those changed last first. `kinds`: those that the person may list. */
export const changesQuery = (scope: Scope, view: RequestsView, kinds: readonly ChangeKind[]) =>
  infiniteQueryOptions({
    queryKey: ['reviews', scope, view, kinds],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: until, signal }) => {
      const asked = kinds.filter((kind) => (view.kind ?? kind) === kind && hasState(kind, view.state));
      const lists = await Promise.all(asked.map((kind) => readKind(kind, { scope, view, until, signal })));
      const found = lists.flat().toSorted((a, b) => b.change.updated_at.localeCompare(a.change.updated_at));
      const isLast = found.length <= pageSize && lists.every((list) => list.length < pageSize);
      return { changes: found.slice(0, pageSize), isLast };
    },
    // Several may have changed at that moment: the page after it begins with them again.
    getNextPageParam: ({ changes, isLast }, _pages, until) => {
      const last = changes.at(-1)?.change.updated_at;
      const next = last && new Date(Date.parse(last) + 1).toISOString();
      return isLast || next === until ? undefined : next;
    },
  });

type Reading = { scope: Scope; view: RequestsView; until: string | undefined; signal: AbortSignal };

async function readKind(kind: ChangeKind, { scope, view, until, signal }: Reading): Promise<ListedChange[]> {
  const conditions = [
    ...('created_by' in scope ? [`created_by:eq:${scope.created_by}`] : []),
    ...(view.state ? [`status:in:${statusesOf(kind, view.state).join('|')}`] : []),
    ...(view.q ? [`${kind === 'change_request' ? 'title' : 'comment'}:contains:${view.q}`] : []),
    ...(until ? [`updated_at:lt:${until}`] : []),
  ];
  const query = { q: conditions, sort: '-updated_at', per_page: pageSize };
  const onBranch = 'branch_id' in scope ? { branch_id: scope.branch_id } : {};
  if (kind === 'change_request') {
    const { data } = await client.get('/change_requests', { params: { query: { ...query, ...onBranch } }, signal });
    return data.map((change) => ({ kind, change }));
  }
  if (kind === 'deployment') {
    const { data } = await client.get('/deployments', { params: { query: { ...query, ...onBranch } }, signal });
    return data.map((change) => ({ kind, change }));
  }
  const toBranch = 'branch_id' in scope ? { to_branch_id: scope.branch_id } : {};
  const { data } = await client.get('/promotions', { params: { query: { ...query, ...toBranch } }, signal });
  return data.map((change) => ({ kind, change }));
}

const hasState = (kind: ChangeKind, state: ListedState | undefined) =>
  state === undefined || statusesOf(kind, state).length > 0;

const statusesOf = (kind: ChangeKind, state: ListedState): readonly string[] => statuses[kind][state] ?? [];

const shared = { requested: ['requested'], failed: ['failed'], rejected: ['rejected'] };
/** Of what is carried out at once when it is approved. */
const carriedOut = (underWay: string, done: string) => ({
  ...shared,
  draft: ['created'],
  under_way: [underWay],
  done: [done],
  cancelled: ['cancelled', 'abandoned'],
});
/** What each kind calls the states that it has. */
const statuses: Record<ChangeKind, Partial<Record<ListedState, readonly string[]>>> = {
  change_request: {
    ...shared,
    draft: ['draft'],
    changes_requested: ['changes_requested'],
    approved: ['approved'],
    under_way: ['applying'],
    done: ['applied'],
    cancelled: ['cancelled'],
  },
  promotion: carriedOut('promoting', 'promoted'),
  deployment: carriedOut('deploying', 'deployed'),
};

/** The kinds that a person may list: the plan has branches, or not. */
export const listedKinds = (branching: boolean): readonly ChangeKind[] =>
  branching ? changeKinds : ['change_request'];

/** The requests of these ids, by id, to show more of them than the inbox says. */
export const requestsByIdQuery = (ids: readonly number[]) =>
  queryOptions({
    queryKey: ['change_requests', 'list', 'of ids', ids],
    queryFn: async ({ signal }) => {
      const query = { q: [`id:in:${ids.join('|')}`], per_page: ids.length };
      const { data } = await client.get('/change_requests', { params: { query }, signal });
      return new Map(data.map((request) => [request.id, request]));
    },
    enabled: ids.length > 0,
  });
