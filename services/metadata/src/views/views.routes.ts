// The HTTP edge of saved views.
import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { idempotencyKeyHeader, idempotent } from '../requests/idempotency.ts';
import {
  createView,
  deleteView,
  getView,
  listViews,
  newViewAttributes,
  sharings,
  stateSchema,
  updateView,
  viewAttributes,
  viewFilters,
} from './views.ts';

const viewShape = {
  id: z.int(),
  table_definition_id: z.int(),
  owner_id: z.int(),
  name: z.string(),
  sharing: z.enum(sharings),
  is_default: z.boolean().meta({ description: 'The table opens with it for all who have no default of their own.' }),
  is_own_default: z.boolean().meta({ description: 'The table opens with it for the caller.' }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};
const viewSchema = z.object(viewShape).meta({ id: 'View', description: 'A saved view of a table.' });
const viewDetailsSchema = z.object({ ...viewShape, state: stateSchema }).meta({ id: 'ViewDetails' });

const params = { id: idTextSchema };
const common = { tag: 'Views', resource: 'view', extension: true } as const;

export function viewRoutes(ctx: MetadataContext): Route[] {
  return [...readable(ctx), ...ofUsers(ctx)];
}

const readable = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/views',
    summary: 'List the saved views of a table',
    description: 'The caller’s own and those that others share, without their states. Takes `view` on the table.',
    query: {
      ...listParameters,
      table_definition_id: idTextSchema.meta({ description: 'The table, in service or drafted.' }),
    },
    response: pageSchema(viewSchema),
    handle: async ({ call, query: { table_definition_id, ...query } }) =>
      listViews(ctx, call, table_definition_id, readListQuery(query, viewFilters)),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/views/{id}',
    summary: 'Show a saved view with its state',
    description: '404 for a private view of another user.',
    params,
    response: viewDetailsSchema,
    handle: async ({ call, params }) => getView(ctx, call, params.id),
  }),
];

const ofUsers = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/views',
    summary: 'Save a view of a table',
    description:
      'The caller owns it. Views go on when the table is deployed again, and come back with a removed table that is restored.',
    example: {
      table_definition_id: 1,
      view: { name: 'Without islands', sharing: 'shared', state: { sort: [{ column: 'name', direction: 'asc' }] } },
    },
    user: true,
    body: { table_definition_id: idSchema },
    attributes: newViewAttributes,
    status: 201,
    response: viewDetailsSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, body, attributes }) => {
      const create = async () => createView(ctx, call, body().table_definition_id, attributes);
      return idempotent(ctx, call, create, (id) => getView(ctx, call, id));
    },
  }),
  route({
    ...common,
    method: 'PATCH',
    path: '/views/{id}',
    summary: 'Change a saved view',
    description:
      'A private or locked one is changed by its owner, a shared one also with `develop` on the table; its owner alone changes who sees it. All who see it may make it their own default.',
    example: { view: { name: 'Mainland' } },
    user: true,
    params,
    attributes: viewAttributes,
    response: viewDetailsSchema,
    handle: async ({ call, params, attributes }) => updateView(ctx, call, params.id, attributes),
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/views/{id}',
    summary: 'Delete a saved view',
    description: 'Its owner may, and with `develop` on the table others may delete a shared one.',
    user: true,
    params,
    status: 204,
    handle: async ({ call, params }) => deleteView(ctx, call, params.id),
  }),
];
