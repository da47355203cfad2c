// Which answers are no longer true after an event. Rows are not among them in the grid: it says
// that others changed them, and shows them when asked (changed-elsewhere.tsx).
import type { QueryKey } from '@tanstack/react-query';
import type { LiveEvent } from './event-stream.ts';

/** The keys with which the queries of stale answers begin. */
export function staleAnswers({ type, resource: { id } }: Pick<LiveEvent, 'type' | 'resource'>): QueryKey[] {
  const noun = type.slice(0, type.indexOf('.'));
  if (noun === 'rows') return id === null ? [] : [['rows', id]];
  return staleAfter[noun]?.map((key) => [key]) ?? [];
}

// The operations of a change request are not among them: its page says that the request has
// changed, and shows the others when asked.
const staleAfter: Record<string, string[]> = {
  account: ['account', 'me'],
  branch: ['branches', 'divergence', 'me'],
  change_request: ['change_requests', 'change_comments', 'inbox', 'reviews'],
  deployment: ['deployments', 'tables', 'inbox', 'divergence', 'reviews'],
  domain: ['domains'],
  export: ['exports'],
  import: ['imports'],
  oauth_application: ['oauth_applications'],
  promotion: ['promotions', 'tables', 'inbox', 'divergence', 'reviews'],
  table_definition: ['tables', 'table_definitions', 'divergence'],
  user: ['users', 'people', 'me'],
  user_group: ['user_groups', 'me'],
  user_group_assignment: ['user_groups', 'me'],
};
