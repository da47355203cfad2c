// The route that finds rows in many tables at once.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { readSearchText, searchTextSchema } from '@almanac/service-kit/http/search-text';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import { maxFoundTables, type SearchAccess, searchBounds, searchRows } from '../search/search-rows.ts';
import { callerLeft } from './caller-left.ts';

const foundRowSchema = z
  .object({
    id: z.int().meta({ description: 'The `svc_sk` of the row.' }),
    key: z.record(z.string(), z.unknown()).meta({ description: 'Its primary key; empty without one.' }),
    label: z.string().meta({ description: 'What lookups show of it, at most 255 characters.' }),
    column: z.string().meta({ description: 'The column that has the text.' }),
    text: z.string().meta({ description: 'Its value; of a long one at most 200 characters around the text.' }),
  })
  .meta({ id: 'FoundRow' });

const foundRowsSchema = z
  .object({
    tables: z.array(
      z
        .object({
          table_definition_id: z.int(),
          table_definition_key: z.string(),
          name: z.string(),
          rows: z
            .array(foundRowSchema)
            .meta({ description: `The best ${limits.rowsFoundPerTable}: by key, then by the beginning of a text.` }),
        })
        .meta({ id: 'FoundTableRows' }),
    ),
    truncated: z.boolean().meta({ description: 'Some tables were not searched, or are not shown.' }),
  })
  .meta({ id: 'FoundRows' });

/** The search for rows, over what it takes of a cluster. */
export function searchRoutes(access: SearchAccess): Route[] {
  return [
    route({
      method: 'GET',
      path: '/table_data/search',
      operationId: 'searchRows',
      tag: 'Table data',
      summary: 'Find rows by a text in all tables of a branch',
      description: `In deployed tables that you may view. Keys are found everywhere, by the whole key or its beginning; other texts in tables of up to 8 MB, and in larger ones where quick searches of the grid have an index (3 characters or more). Reads the ${searchBounds.tables} tables with the latest changes for about a second, and shows ${maxFoundTables} (docs/how-to/search.md).`,
      extension: true,
      query: {
        q: searchTextSchema,
        branch_id: idTextSchema.meta({ description: 'The branch whose tables are searched.' }),
      },
      response: foundRowsSchema,
      handle: async ({ call, query: { q, branch_id: branchId }, response }) =>
        new JsonText(
          await searchRows(access, call, { text: readSearchText(q), branchId, signal: callerLeft(response) }),
        ),
    }),
  ];
}
