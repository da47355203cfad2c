// The routes of what differs and what has happened: /table_data/diff, /activity, /timeline.
import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { exactNumbersHeader, exactNumbersQuery, readExactNumbers } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { readTableReference, tableInBody, tableInQuery } from '@almanac/service-kit/rights/table-reference';
import { instantSchema } from '@almanac/service-kit/text/instants';
import { z } from 'zod';
import { getTimeline, listActivity } from '../differences/activity.ts';
import { actions, spans } from '../differences/activity-sql.ts';
import { differenceKinds } from '../differences/difference-plan.ts';
import { type CompareAccess, getDifferences } from '../differences/differences.ts';
import type { SideRequest } from '../differences/sides.ts';
import { asOfSchema } from '../rows/as-of.ts';
import { type Channel, channels } from '../rows/origin.ts';
import type { ChangeRequestReading, DryRunReading } from '../tables/open-table.ts';
import { callerLeft } from './caller-left.ts';
import { filterModelSchema, versionSchema } from './table-data.schemas.ts';

const tag = 'Table data';

const sideSchema = z
  .strictObject({
    branch_id: idSchema
      .optional()
      .meta({ description: 'The table of the same lineage on this branch; that of the named table by default.' }),
    as_of: asOfSchema.optional(),
    change_request_id: idSchema
      .optional()
      .meta({ description: 'The table as this change request would leave it, on its branch; without other members.' }),
    import_table_id: idSchema.optional().meta({
      description: 'The table as the load of this dry run would leave it, for a day after it; without other members.',
    }),
  })
  .meta({
    id: 'DifferenceSide',
    description: 'A table now, as it was at an instant, or as it would be.',
  });
type NamedSide = z.infer<typeof sideSchema>;

const count = z.int().min(0);
const cellsSchema = z
  .record(z.string(), z.object({ from: z.unknown(), to: z.unknown() }).meta({ id: 'ChangedCell' }))
  .meta({ description: 'Column name to both values; null: no value.' });
const keySchema = z
  .record(z.string(), z.unknown())
  .meta({ description: 'The primary key; in a table without one, `svc_sk`.' });
const differenceSchema = z
  .object({
    kind: z.enum(differenceKinds).meta({ description: '`created`: on the right side only; `deleted`: on the left.' }),
    key: keySchema,
    id_left: z
      .int()
      .nullable()
      .meta({ description: 'The `svc_sk` on the left side; negative of a row that would be created.' }),
    id_right: z.int().nullable().meta({ description: 'The `svc_sk` on the right side; as above.' }),
    cells: cellsSchema,
  })
  .meta({ id: 'RowDifference' });
const differencesSchema = z
  .object({
    rows: z.array(differenceSchema),
    rowCount: count.meta({ description: 'Of the requested kinds.' }),
    counts: z
      .object({
        created: count,
        updated: count,
        deleted: count,
        columns: z
          .record(z.string(), count)
          .meta({ description: 'How many updated rows differ in a column; columns without any are left out.' }),
      })
      .meta({ id: 'DifferenceCounts', description: 'Of all kinds.' }),
    columns_left_only: z.array(z.string()).meta({ description: 'Not compared: the right side has no such column.' }),
    columns_right_only: z.array(z.string()).meta({ description: 'Not compared: the left side has no such column.' }),
  })
  .meta({ id: 'RowDifferences' });

const channelSchema = z.enum(Object.keys(channels) as [Channel, ...Channel[]]);
const knownSince = z.iso
  .datetime()
  .meta({ description: 'How far the history goes back; versions that ended before are not kept.' });
const changeSchema = z
  .object({
    svc_sk: z.int(),
    svc_version: z.int(),
    at: z.iso.datetime(),
    action: z.enum(actions),
    channel: channelSchema.nullable(),
    user_id: z.int().nullable(),
    application_id: z.int().nullable(),
    request_id: z.string().nullable(),
    change_request: versionSchema.shape.change_request,
    key: z.record(z.string(), z.unknown()).meta({ description: 'The primary key of this version.' }),
    cells: cellsSchema.nullable().meta({
      description: 'What the version changed, of a first version all values; null when the one before is not kept.',
    }),
  })
  .meta({ id: 'RowChange' });
const changesSchema = pageSchema(changeSchema).extend({ as_of_from: knownSince }).meta({ id: 'RowChanges' });
const timelineSchema = z
  .object({
    as_of_from: knownSince,
    buckets: z
      .array(
        z
          .object({ at: z.iso.datetime(), created: count, updated: count, deleted: count })
          .meta({ id: 'TimelineBucket' }),
      )
      .meta({ description: 'In the order of time; those without a change are left out.' }),
  })
  .meta({ id: 'Timeline' });

const period = {
  from: instantSchema.optional().meta({ description: 'Changes at this instant or later.' }),
  to: instantSchema.optional().meta({ description: 'Changes before this instant.' }),
};

/** What opens the sides that are not there yet: `change-requests/visibility.ts`, `imports/`. */
type Openers = {
  openReading(call: CallContext, id: number): Promise<ChangeRequestReading>;
  openDryRun(call: CallContext, importTableId: number): Promise<DryRunReading>;
};

/** Every endpoint about differences and changes of rows. */
export function differenceRoutes(access: CompareAccess, { openReading, openDryRun }: Openers): Route[] {
  const readSide = async (call: CallContext, name: 'left' | 'right', side: NamedSide = {}): Promise<SideRequest> => {
    const { change_request_id: changeRequestId, import_table_id: importTableId } = side;
    if (changeRequestId === undefined && importTableId === undefined) return side;
    if (Object.values(side).filter((value) => value !== undefined).length > 1)
      throw new ServiceError('bad_request', {
        code: 'incompatible',
        message: `${name}: change_request_id and import_table_id go without other members.`,
        field: name,
      });
    if (changeRequestId !== undefined) return { through: await openReading(call, changeRequestId) };
    return { dryRun: await openDryRun(call, importTableId as number) };
  };
  return [
    route({
      method: 'POST',
      path: '/table_data/diff',
      operationId: 'compareRows',
      tag,
      summary: 'Compare the rows of a table with those of another instant or branch, or as they would be',
      example: { table_definition_id: 12, left: { as_of: '2026-01-01T00:00:00Z' }, right: {}, startRow: 0, endRow: 2 },
      description:
        'Rows are matched by primary key; without one by `svc_sk`, when both sides are on one branch. Columns have the names of the right side. ' +
        'The rows are in the order of their key. `endRow` is exclusive (docs/how-to/compare-rows.md).',
      extension: true,
      requestHeaders: exactNumbersHeader,
      query: exactNumbersQuery,
      resource: 'table_data',
      body: {
        ...tableInBody,
        left: sideSchema.optional().meta({ description: 'What is compared with; the table now by default.' }),
        right: sideSchema.optional().meta({ description: 'What is compared; the table now by default.' }),
        kinds: z
          .array(z.enum(differenceKinds))
          .min(1)
          .max(differenceKinds.length)
          .optional()
          .meta({ description: 'Which rows to show; all by default.' }),
        columns: z
          .array(z.string())
          .min(1)
          .max(limits.columnsPerTable)
          .optional()
          .meta({ description: 'Which columns to compare; all that both sides have by default.' }),
        filterModel: filterModelSchema.optional(),
        startRow: z.int().min(0).max(limits.int4).meta({ description: 'The first row, counted from 0.' }),
        endRow: z
          .int()
          .min(0)
          .max(limits.int4)
          .meta({ description: `The row after the last one; at most ${limits.gridRows} after startRow.` }),
      },
      response: differencesSchema,
      handle: async ({ call, query, headers, body, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { left, right, startRow, endRow, kinds, columns, filterModel, ...named } = body();
        const table = { ...readTableReference(named), exactNumbers };
        const request = { startRow, endRow, kinds, columns, filterModel };
        const sides = {
          left: await readSide(call, 'left', left),
          right: await readSide(call, 'right', right),
          signal: callerLeft(response),
        };
        return new JsonText(await getDifferences(access, call, { ...table, ...sides }, request));
      },
    }),
    route({
      method: 'GET',
      path: '/table_data/activity',
      operationId: 'listActivity',
      tag,
      summary: 'List the changes of a table, newest first',
      description: 'The versions of all rows, deleted ones too, in today’s columns.',
      extension: true,
      requestHeaders: exactNumbersHeader,
      query: {
        ...tableInQuery,
        ...period,
        user_id: idTextSchema.optional().meta({ description: 'Changes by this user.' }),
        application_id: idTextSchema
          .optional()
          .meta({ description: 'Changes by this application with its own token.' }),
        channel: channelSchema.optional().meta({ description: 'Changes by this way.' }),
        action: z.enum(actions).optional().meta({ description: 'Changes of this kind.' }),
        column: z.string().optional().meta({ description: 'Changes of this column’s value.' }),
        page: listParameters.page,
        per_page: listParameters.per_page,
        ...exactNumbersQuery,
      },
      response: changesSchema,
      handle: async ({ call, query, headers, response }) => {
        const {
          from,
          to,
          user_id: userId,
          application_id: applicationId,
          channel,
          action,
          column,
          page,
          per_page,
        } = query;
        const exactNumbers = readExactNumbers(query, headers);
        const request = { ...readTableReference(query), exactNumbers, signal: callerLeft(response) };
        const asked = { from, to, userId, applicationId, channel, action, column, page, per_page };
        return new JsonText(await listActivity(access, call, request, asked));
      },
    }),
    route({
      method: 'GET',
      path: '/table_data/timeline',
      operationId: 'getTimeline',
      tag,
      summary: 'Count the changes of a table over time',
      description: `How many versions of rows came about in each bucket of time, in UTC: restored rows count as created, reverted ones as updated. At most ${limits.timelineBuckets} buckets.`,
      extension: true,
      query: {
        ...tableInQuery,
        ...period,
        bucket: z.enum(spans).optional().meta({ default: 'day', description: 'Weeks begin on Monday.' }),
      },
      response: timelineSchema,
      handle: async ({ call, query, response }) => {
        const { from, to, bucket = 'day' } = query;
        const request = { ...readTableReference(query), signal: callerLeft(response) };
        return new JsonText(await getTimeline(access, call, request, { from, to, bucket }));
      },
    }),
  ];
}
