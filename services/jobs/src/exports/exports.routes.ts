// The REST edge of exports.
import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { instantSchema } from '@almanac/service-kit/text/instants';
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import { idempotencyKeyHeader } from '../idempotency.ts';
import { criteriaFields } from './export-criteria.ts';
import {
  cancelExport,
  createExport,
  exportFields,
  exportFormats,
  exportPatterns,
  exportSchema,
  getExport,
  highWaterMarkSchema,
  listExports,
  showExport,
} from './exports.ts';

const tag = 'Exports';

/** Every endpoint about exports. */
export function exportRoutes(ctx: JobsContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/exports',
      tag,
      summary: 'List the exports of tables one may view',
      description: 'A bare word in `q` searches the correlation codes.',
      query: {
        ...listParameters,
        table_definition_key: z.string().optional().meta({ description: 'Only those of tables with this key.' }),
        branch_id: idTextSchema.optional().meta({ description: 'Only those from this branch.' }),
      },
      response: pageSchema(exportSchema),
      handle: ({ call, query }) =>
        listExports(ctx, call, query, readListQuery(query, exportFields, 'correlation_code')),
    }),
    route({
      method: 'GET',
      path: '/exports/{id}',
      tag,
      summary: 'Show an export, with its download link once it is complete',
      description:
        '`download_url` is fresh at every call and works for an hour, without a token. Files are kept for 30 days.',
      params: { id: idTextSchema },
      response: exportSchema,
      handle: async ({ call, params }) => showExport(ctx, call, await getExport(ctx, call, params.id)),
    }),
    route({
      method: 'POST',
      path: '/exports/{id}/cancel',
      tag,
      summary: 'Cancel an export that has not ended',
      description: 'No file is kept. 422 when it has ended.',
      requestHeaders: idempotencyKeyHeader,
      extension: true,
      params: { id: idTextSchema },
      response: exportSchema,
      handle: async ({ call, params, body }) => {
        await getExport(ctx, call, params.id);
        body();
        return showExport(ctx, call, await cancelExport(ctx, call, params.id));
      },
    }),
    route({
      method: 'POST',
      path: '/exports',
      tag,
      summary: 'Export a table',
      example: {
        branch_id: 1,
        table_definition_key: 'countries',
        pattern: 'incremental',
        high_water_mark: '2026-01-31T00:00:00Z',
        format: 'csv',
      },
      requestHeaders: { 'Idempotency-Key': 'A repeated request with the same key answers the first one’s export.' },
      description:
        'Runs in the background: ask GET /exports/{id} until the status is completed. Idempotency-Key is honoured for 24 hours. ' +
        `With filterModel, or, q, sortModel, columns, include_lookups or change_request_id (at most ${limits.exportCriteriaBytes} bytes of JSON) the file has the rows that POST /table_data/grid answers, in their order; what they get wrong is 422, and no export is created.`,
      resource: 'export',
      body: {
        branch_id: idSchema,
        table_definition_key: z.string(),
        pattern: z.string().meta({
          enum: [...exportPatterns],
          description:
            'full: the live rows. incremental: what has changed after the mark, one line for each primary key, deleted keys first; `svc_transaction_code` (extension) is `d` for a deleted key, `u` for a row whose key was there at the mark, `i` for any other, and `svc_is_deleted` says the same as true or false.',
        }),
        high_water_mark: highWaterMarkSchema.nullish().meta({
          description:
            'Required when the pattern is incremental; ignored otherwise. The `next_high_water_mark` of an export; in the future: 400.',
        }),
        as_of: instantSchema.nullish().meta({
          description:
            'Extension: the rows as they were at this instant; only with the pattern full, not in the future.',
        }),
        ...criteriaFields,
        correlation_code: z
          .string()
          .nullish()
          .meta({
            description: `The caller's label, at most ${limits.nameCodePoints} characters; generated when omitted.`,
          }),
        format: z
          .string()
          .optional()
          .meta({
            enum: [...exportFormats],
            default: 'csv',
            description:
              'Extension. Numbers keep all digits in each; what reads json and ndjson into doubles rounds long ones, see exact_numbers.',
          }),
        gzip: z.boolean().optional().meta({ description: 'Extension: the file is packed by gzip.' }),
        safe_cells: z.boolean().optional().meta({
          description:
            'Extension, csv only: text that a spreadsheet would run as a formula gets an apostrophe in front (so does text that begins with one).',
        }),
        for_editing: z.boolean().optional().meta({
          default: false,
          description:
            'Extension, xlsx and the pattern full only: the workbook has lists of valid values and of keys of referenced tables, says on a sheet what each column is, and knows the version of each row; imported again with the pattern incremental it changes what was edited, and rejects rows that others changed since.',
        }),
        exact_numbers: z.boolean().optional().meta({
          description:
            'Extension, json and ndjson only: decimals and bigints are strings, so that no JSON parser rounds them. Imports take them as they take numbers.',
        }),
      },
      status: 201,
      response: exportSchema,
      handle: async ({ call, body }) => showExport(ctx, call, await createExport(ctx, call, body())),
    }),
  ];
}
