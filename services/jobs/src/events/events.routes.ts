// The REST edge of the log of events: pages, and the live stream.
import type { IncomingMessage } from 'node:http';
import { integerBetween, pageLimit } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { ServiceError, shorten } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import type { EventStreams } from './event-streams.ts';
import { listEvents } from './events.ts';

const tag = 'Events';
const typePattern = /^([a-z_]+\.)*([a-z_]+|\*)$/;
const maximumTypes = 50;

const idSchema = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the id of an event')
  .transform(Number)
  .meta({ type: 'integer', minimum: 0 });

const longestReplaySeconds = 600;

const filter = {
  type: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string' },
      description:
        'Only events of this type, `deployment.approved`, or of all that begin so, `deployment.*`; repeatable.',
    }),
};

const actorSchema = z
  .object({ type: z.enum(['user', 'application', 'system']), id: z.int().nullable() })
  .meta({ description: 'Who did it; `system` for what no caller asked for, or where it is not known.' });

const resourceSchema = z
  .object({
    type: z.string(),
    id: z.int().nullable(),
    table_definition_id: z.int().optional(),
    domain_id: z.int().optional(),
    branch_id: z.int().optional(),
  })
  .meta({ description: 'What it happened to, and where that is.' });

const eventSchema = z
  .object({
    id: z.int().meta({ description: 'Ascends within the account: after it no smaller one ever appears.' }),
    type: z.string(),
    time: z.iso
      .datetime()
      .meta({ description: 'When it happened. Events are in the order of their ids, not of time.' }),
    actor: actorSchema,
    resource: resourceSchema,
    api_version: z.string(),
    data: z.record(z.string(), z.unknown()).meta({ description: 'What the type says (docs/how-to/follow-events.md).' }),
  })
  .meta({ id: 'Event' });

const whoReads =
  'Administrators and applications read all events; those about people, groups, applications and the account with the scope `api:admin`. ' +
  'Everybody else reads `rows.changed` of the tables they may view.';

/** Every endpoint about events. */
export function eventRoutes(ctx: JobsContext, streams: EventStreams): Route[] {
  return [
    route({
      method: 'GET',
      path: '/events',
      operationId: 'listEvents',
      tag,
      summary: 'Read what happened in the account, in order',
      description:
        `${whoReads} Keep \`cursor\` and ask with \`after\` for what comes next; at once while \`has_more\` is true. A page may be empty and yet move the cursor. ` +
        'Events are kept for 30 days: 410 when some after `after` were removed.',
      extension: true,
      query: {
        after: idSchema.optional().meta({
          description: 'The last event that the caller has. Left out: from the oldest that is kept.',
        }),
        ...filter,
        limit: pageLimit(limits.perPageMaximum, 'Events a page.'),
      },
      response: z
        .object({
          data: z.array(eventSchema),
          cursor: z.int().meta({ description: 'What to send as `after`.' }),
          has_more: z.boolean().meta({ description: 'Whether to go on at once.' }),
        })
        .meta({ id: 'Events' }),
      handle: ({ call, query }) =>
        listEvents(ctx, call, {
          after: query.after,
          types: readTypes(query.type),
          limit: query.limit ?? limits.perPageDefault,
        }),
    }),
    route({
      method: 'GET',
      path: '/events/stream',
      operationId: 'streamEvents',
      tag,
      summary: 'Follow what happens in the account as it happens',
      description:
        'Server-sent events: each with its `id`, and as `data` what GET /events answers. After a disconnect go on with the header `Last-Event-ID`, as browsers do, or with `after`; with neither, from now on, or from as far back as `replay_seconds` says. ' +
        `${whoReads} Counts as one call. It ends with the token, and whenever a server stops: connect again. 410 as GET /events, 429 when too many are open.`,
      extension: true,
      query: {
        after: idSchema.optional().meta({ description: 'The last event that the caller has.' }),
        replay_seconds: integerBetween(0, longestReplaySeconds, {
          description:
            'Without a last event: also what was recorded so many seconds before, for a client that has just read the present state.',
        }),
        ...filter,
      },
      requestHeaders: { 'Last-Event-ID': 'The last event that the client has; goes before `after`.' },
      produces: 'text/event-stream',
      handle: async ({ call, query, request, response }) => {
        const after = readLastEventId(request) ?? query.after;
        const begin = { after, replaySeconds: query.replay_seconds, types: readTypes(query.type) };
        if (request.method !== 'HEAD') return streams.open(call, begin, response);
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end();
      },
    }),
  ];
}

function readTypes(given: string | string[] | undefined): string[] {
  const types = [given ?? []].flat();
  if (types.length > maximumTypes)
    throw new ServiceError('bad_request', {
      code: 'too_many',
      message: `type may be given ${maximumTypes} times at most.`,
      field: 'type',
      params: { maximum: maximumTypes },
    });
  for (const type of types)
    if (type.length > 100 || !typePattern.test(type))
      throw new ServiceError('bad_request', {
        code: 'wrong_format',
        message: `type: ${shorten(type)} is no type; write deployment.approved, or deployment.* for all that begin so.`,
        field: 'type',
      });
  return types;
}

function readLastEventId({ headers }: IncomingMessage): number | undefined {
  const given = headers['last-event-id'];
  if (given === undefined || given === '') return undefined;
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return Number(given);
  throw new ServiceError('bad_request', {
    code: 'wrong_format',
    message: 'Last-Event-ID must be the id of an event.',
    field: 'Last-Event-ID',
  });
}
