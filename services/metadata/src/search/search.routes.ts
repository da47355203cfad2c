// The HTTP edge of the search, an extension to the contract.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import { readSearchText, searchTextSchema } from '@almanac/service-kit/http/search-text';
import { limits } from '@almanac/service-kit/limits';
import type { MetadataContext } from '../context.ts';
import { search } from './search.ts';
import { foundSchema } from './search-schema.ts';

export function searchRoutes(ctx: MetadataContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/search',
      operationId: 'search',
      tag: 'Search',
      summary: 'Find tables, columns, domains, branches and changes by a text',
      description: `What the caller sees in the lists, at most ${limits.itemsFoundPerKind} of each kind. The very text comes first, then what begins with it; changes come the latest first. Deployments and promotions are found by people on plans with branching. Rows: \`GET /table_data/search\`; people: \`GET /people\` (docs/how-to/search.md).`,
      extension: true,
      query: {
        q: searchTextSchema,
        branch_id: idTextSchema
          .optional()
          .meta({ description: 'Only tables and columns on this branch, and changes of it.' }),
      },
      response: foundSchema,
      handle: async ({ call, query: { q, branch_id: branchId } }) => search(ctx, call, readSearchText(q), branchId),
    }),
  ];
}
