// The route of the change feed of a table.
import { pageLimit } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { exactNumbersHeader, exactNumbersQuery, readExactNumbers } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { readTableReference, tableInQuery } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import { listChanges } from '../changes/change-feed.ts';
import { type FeedForm, feedForms } from '../changes/cursor.ts';
import type { PageState } from '../pages/pages.ts';
import type { Pools } from '../postgres/pools.ts';
import type { TableAccess } from '../tables/open-table.ts';
import { callerLeft } from './caller-left.ts';
import { rowSchema, versionSchema } from './table-data.schemas.ts';

const key = z.record(z.string(), z.unknown());
const { channel, user_id, application_id, request_id, change_request } = versionSchema.shape;
const changeSchema = z
  .object({
    change: z.enum(['created', 'updated', 'deleted']),
    svc_sk: z.int(),
    svc_version: z.int(),
    at: z.iso.datetime().meta({ description: 'When the version came about.' }),
    key: key.meta({ description: 'The primary key that changed; in a table without one, `svc_sk`.' }),
    key_before: key.nullable().meta({ description: 'The key that the record had before, if it was another.' }),
    key_after: key.nullable().meta({ description: 'Of a deleted key: the one that its record has instead, if any.' }),
    channel,
    user_id,
    application_id,
    request_id,
    change_request,
    record: rowSchema,
  })
  .meta({ id: 'Change' });

/** The route. */
export function changesRoutes(access: TableAccess & { pools: Pools; pages: PageState }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/table_data/changes',
      operationId: 'listChanges',
      tag: 'Table data',
      summary: 'Follow the changes of a table from a cursor',
      description:
        'What changed since `after`, from every channel: by default the net change of each primary key, deleted keys first. Apply the changes in their order, then go on with `cursor`; at once while `has_more` is true. ' +
        'A page may be empty and yet move the cursor. Without `after` the page is empty and has the cursor of now. 410 for a cursor from before the history that is kept (docs/how-to/follow-changes.md).',
      extension: true,
      requestHeaders: exactNumbersHeader,
      query: {
        ...tableInQuery,
        after: z
          .string()
          .optional()
          .meta({ description: 'The `cursor` of the page before, or the `next_high_water_mark` of an export.' }),
        limit: pageLimit(limits.changesPerPage, 'Changes a page.'),
        versions: z
          .enum(feedForms)
          .optional()
          .meta({ default: 'net', description: '`all`: each version, in the order of time.' }),
        ...exactNumbersQuery,
      },
      response: z
        .object({
          data: z.array(changeSchema),
          cursor: z.string().meta({ description: 'What to send as `after`; keep it with what you made of the page.' }),
          has_more: z.boolean().meta({ description: 'Whether to go on at once.' }),
        })
        .meta({ id: 'Changes' }),
      handle: async ({ call, query, headers, response }) => {
        const { after, limit = limits.perPageDefault, versions: form = 'net' as FeedForm } = query;
        const exactNumbers = readExactNumbers(query, headers);
        const request = { ...readTableReference(query), exactNumbers, signal: callerLeft(response) };
        return new JsonText(await listChanges(access, call, request, { after, form, limit }));
      },
    }),
  ];
}
