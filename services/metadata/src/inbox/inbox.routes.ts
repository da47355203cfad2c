// The HTTP edge of the inbox, an extension to the contract.
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { countInbox, inboxCountsSchema, inboxItemSchema, readInbox } from './inbox.ts';

const common = { tag: 'Inbox', resource: 'inbox', extension: true, user: true } as const;

export function inboxRoutes(ctx: MetadataContext): Route[] {
  return [
    route({
      ...common,
      method: 'GET',
      path: '/inbox',
      operationId: 'showInbox',
      summary: 'List what waits for the calling user',
      description:
        'Change requests, deployments and promotions of others that wait for an approval they may give and have not given, and their own that came back, failed or can be applied. The latest 100.',
      response: z.object({ data: z.array(inboxItemSchema) }).meta({ id: 'Inbox' }),
      handle: async ({ call }) => readInbox(ctx, call),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/inbox/counts',
      operationId: 'countInbox',
      summary: 'Count what waits for the calling user',
      description: 'By the reasons of `GET /inbox`.',
      response: inboxCountsSchema,
      handle: async ({ call }) => countInbox(ctx, call),
    }),
  ];
}
