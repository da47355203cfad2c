// Which answers are no longer true after an event. Rows are not among them in the grid: it says
// that others changed them, and shows them when asked (changed-elsewhere.ts).
import type { QueryKey } from '@tanstack/react-query';
import type { LiveEvent } from './event-stream.ts';

/** The keys with which the queries of stale answers begin. */
export function staleAnswers({ type, resource }: Pick<LiveEvent, 'type' | 'resource'>): QueryKey[] {
  const noun = type.slice(0, type.indexOf('.'));
  const { id } = resource;
  return noun === 'rows' ? (id === null ? [] : [['rows', id]]) : (staleAfter[noun]?.(id) ?? []);
}

// The operations of a change request are not among them: its page says that the request has
// changed, and shows the others when asked.
const staleAfter: Record<string, (id: number | null) => QueryKey[]> = {
  account: () => [['account'], ['me']],
  branch: () => [['branches'], ['me']],
  change_request: (id) => [['change_requests', 'list'], ['change_requests', 'one', id], ['change_comments', id], inbox],
  deployment: (id) => [['deployments', 'list'], ['deployments', 'open'], ['deployments', 'one', id], ['tables'], inbox],
  domain: () => [['domains']],
  export: (id) => [['exports', 'one', id], ['exports']],
  import: (id) => [['imports', 'one', id], ['imports']],
  oauth_application: () => [['oauth_applications']],
  promotion: (id) => [['promotions', 'list'], ['promotions', 'one', id], ['tables'], inbox],
  table_definition: () => [['tables'], ['table_definitions']],
  user: () => [['users'], ['people'], ['me']],
  user_group: () => [['user_groups'], ['me']],
  user_group_assignment: () => [['user_groups'], ['me']],
};
const inbox: QueryKey = ['inbox'];
