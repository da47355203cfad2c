// The REST edge of imports.
import { descriptionSchema, idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { visibleNameSchema } from '@almanac/service-kit/api/names';
import { type Route, route } from '@almanac/service-kit/api/route';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import { uploadBytes } from '../files/object-store/upload-bytes.ts';
import { idempotencyKeyHeader } from '../idempotency.ts';
import { applyDryRun } from './apply-dry-run.ts';
import { correctRows } from './corrections.ts';
import { changeKinds, readDryRunChanges } from './dry-run-changes.ts';
import { addImportTable, formats, onErrors, patterns, storeFile } from './import-tables.ts';
import {
  applications,
  dryRunChangesSchema,
  importDetailSchema,
  importTableSchema,
  listedImportSchema,
  listedTables,
  newImportTableSchema,
  rejectedRowsSchema,
  showImportDetail,
  showImportTable,
} from './import-view.ts';
import {
  cancelImport,
  completeImport,
  createImport,
  getImport,
  importFields,
  listImports,
  requireImportRight,
} from './imports.ts';
import { listRejectedRows } from './rejected-rows.ts';
import { rowWindowParameters } from './row-window.ts';
import { uploadComplete } from './upload-complete.ts';

const tag = 'Imports';
const id = { id: idTextSchema };

const includeSchema = z
  .enum(['tables'])
  .optional()
  .meta({ description: `Extension: \`tables\` adds the first ${listedTables} tables of each, with their metrics.` });

/** Every endpoint about imports. */
export function importRoutes(ctx: JobsContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/imports',
      tag,
      summary: 'List the imports of tables one may view',
      description: 'A bare word in `q` searches the correlation codes.',
      query: { ...listParameters, include: includeSchema },
      response: pageSchema(listedImportSchema),
      handle: ({ call, query: { include, ...query } }) =>
        listImports(ctx, call, readListQuery(query, importFields, 'correlation_code'), {
          tables: include === 'tables',
        }),
    }),
    route({
      method: 'GET',
      path: '/imports/{id}',
      tag,
      summary: 'Show an import with its tables, metrics and action history',
      description: 'Poll it until the status is no longer `created`, `uploading` or `processing`.',
      params: id,
      response: importDetailSchema,
      handle: async ({ call, params }) => {
        const found = await getImport(ctx, call, params.id);
        await requireImportRight(ctx, call, found, 'view');
        return showImportDetail(ctx, found);
      },
    }),
    route({
      method: 'POST',
      path: '/imports',
      tag,
      summary: 'Open an import',
      example: { branch_id: 1, correlation_code: 'erp-2026-01-31' },
      requestHeaders: { 'Idempotency-Key': 'A repeated request with the same key answers the first one’s import.' },
      description:
        'Then add tables, upload their files and call upload_complete. Idempotency-Key is honoured for 24 hours.',
      resource: 'import',
      body: {
        branch_id: idSchema,
        correlation_code: z
          .string()
          .nullish()
          .meta({
            description: `The caller's label, at most ${limits.nameCodePoints} characters; generated when omitted.`,
          }),
      },
      status: 201,
      response: importDetailSchema,
      handle: async ({ call, body }) => showImportDetail(ctx, await createImport(ctx, call, body())),
    }),
    route({
      method: 'POST',
      path: '/imports/{id}/tables',
      tag,
      summary: 'Add a table to an import',
      requestHeaders: idempotencyKeyHeader,
      example: { table_definition_id: 12, pattern: 'full', format: 'csv', on_error: 'reject_rows' },
      description:
        'Answers a pre-signed URL for the file. Tables are loaded in the order in which they were added: add what others refer to first.',
      extension: true,
      params: id,
      resource: 'import_table',
      body: {
        table_definition_id: idSchema.optional(),
        table_definition_key: z
          .string()
          .optional()
          .meta({ description: 'Instead of the id; looked up on the branch of the import.' }),
        branch_id: idSchema.optional().meta({ description: 'Of the key; that of the import by default.' }),
        pattern: z.string().meta({
          enum: [...patterns],
          description:
            'full: the table becomes what the file is. incremental: rows are inserted and updated by their key. incremental_with_delete: the column `svc_transaction_code` says what is done with each row, `i` and `u` write it, `d` deletes the row with its key; what the same file deletes and writes is deleted first.',
        }),
        format: z
          .string()
          .optional()
          .meta({
            enum: [...formats],
            default: 'auto',
            description: 'Each may be packed by gzip. auto: detected from the first bytes of the file.',
          }),
        import_mapping_id: idSchema
          .nullish()
          .meta({ description: "The table's default mapping when omitted; null: none." }),
        on_error: z
          .string()
          .optional()
          .meta({ enum: [...onErrors], default: 'reject_file' }),
        dry_run: z.boolean().optional(),
        allow_mass_delete: z.boolean().optional(),
        mass_delete_percent: z.int().optional().meta({ minimum: 1, maximum: 100, default: 50 }),
        safe_cells: z.boolean().optional().meta({
          description:
            'The file was exported with safe_cells: apostrophes before texts that a spreadsheet would take for formulas are no part of them.',
        }),
        file_size: z
          .int()
          .optional()
          .meta({ description: 'In bytes. When given, upload_complete refuses a file of another size.' }),
      },
      status: 201,
      response: newImportTableSchema,
      handle: async ({ call, params, body }) => {
        const { made, upload_url } = await addImportTable(ctx, call, params.id, body);
        return { ...(await showImportTable(ctx, made)), upload_url };
      },
    }),
    route({
      method: 'PUT',
      path: '/imports/{id}/tables/{table_id}/file',
      operationId: 'uploadImportTableFile',
      tag,
      summary: 'Upload the file of an import table through the API',
      description:
        'The body is the file, at most 5 GB. Uploading to the `upload_url` of the table spares the way through the API.',
      extension: true,
      raw: true,
      params: { ...id, table_id: idTextSchema },
      response: importTableSchema,
      handle: async ({ call, params, request, response }) => {
        const declaredBytes = Number(request.headers['content-length'] ?? 0);
        const ids = { importId: params.id, tableId: params.table_id, declaredBytes };
        const table = await storeFile(ctx, call, ids, () => uploadBytes(request, response, limits.uploadBytes));
        return showImportTable(ctx, table);
      },
    }),
    route({
      method: 'GET',
      path: '/imports/{id}/tables/{table_id}/changes',
      operationId: 'listDryRunChanges',
      tag,
      summary: 'List the rows that a dry run would change',
      description:
        'Of an import table with `dry_run` that has ended; kept for a day. The rows are in the order of their key, under the names that the columns had then.',
      extension: true,
      params: { ...id, table_id: idTextSchema },
      query: {
        kind: z.enum(changeKinds).optional().meta({ description: 'Which rows to show; all by default.' }),
        ...rowWindowParameters,
      },
      response: dryRunChangesSchema,
      handle: async ({ call, params, query }) => {
        const ids = { importId: params.id, tableId: params.table_id };
        return new JsonText(await readDryRunChanges(ctx, call, ids, query));
      },
    }),
    route({
      method: 'GET',
      path: '/imports/{id}/tables/{table_id}/rejected_rows',
      operationId: 'listRejectedRows',
      tag,
      summary: 'List the rows of a file that were rejected',
      description:
        'With all their cells and what is wrong with them, in the order of the file; kept for a day. `rejected_rows_url` has them as CSV.',
      extension: true,
      params: { ...id, table_id: idTextSchema },
      query: rowWindowParameters,
      response: rejectedRowsSchema,
      handle: async ({ call, params, query }) =>
        listRejectedRows(ctx, call, { importId: params.id, tableId: params.table_id }, query),
    }),
    route({
      method: 'POST',
      path: '/imports/{id}/tables/{table_id}/correct',
      operationId: 'correctRejectedRows',
      tag,
      summary: 'Correct rejected rows in place, and load the file again',
      example: { rows: [{ row: 2, cells: { numeric_code: '999' } }] },
      requestHeaders: idempotencyKeyHeader,
      description:
        'Of an import table that has loaded nothing: a dry run that has ended, or one that failed for rejected rows. ' +
        `The cells replace those of the stored file, which is then loaded again with the same options, a dry run as a dry run. Earlier corrections stay; at most ${limits.correctedRowsPerImportTable} rows of a file can be corrected (docs/how-to/import-a-file.md).`,
      extension: true,
      params: { ...id, table_id: idTextSchema },
      body: {
        rows: z
          .array(
            z
              .object({
                row: z.int().min(0).meta({ description: 'Its number in the file, of a row that was rejected.' }),
                cells: z.record(z.string(), z.string().nullable()).meta({
                  description: 'By the names that the columns have in the file, as it would have them; null: no value.',
                }),
              })
              .meta({ id: 'CorrectedRow' }),
          )
          .min(1)
          .max(limits.correctedRowsPerImportTable),
      },
      response: importTableSchema,
      handle: async ({ call, params, body }) => {
        const ids = { importId: params.id, tableId: params.table_id };
        return showImportTable(ctx, await correctRows(ctx, call, ids, body));
      },
    }),
    route({
      method: 'POST',
      path: '/imports/{id}/tables/{table_id}/apply',
      operationId: 'applyDryRun',
      tag,
      summary: 'Apply a dry run: load its file, or propose its rows',
      example: { as: 'change_request', title: 'Prices of 2027' },
      requestHeaders: idempotencyKeyHeader,
      description:
        'Once, of an import table with `dry_run` that has ended. `rows`: the stored file is loaded with the same options; files are kept for 7 days. ' +
        `\`change_request\`: the rows that would change become the operations of a new change request, at most ${limits.operationsPerChangeRequest}, based on the versions that the dry run found; they are kept for a day (docs/how-to/import-a-file.md).`,
      extension: true,
      params: { ...id, table_id: idTextSchema },
      body: {
        as: z.enum(applications),
        title: visibleNameSchema
          .optional()
          .meta({ description: 'Of the change request; named after the table by default.' }),
        description: descriptionSchema.optional(),
      },
      response: importTableSchema,
      handle: async ({ call, params, body }) => {
        const ids = { importId: params.id, tableId: params.table_id };
        return showImportTable(ctx, await applyDryRun(ctx, call, ids, body));
      },
    }),
    route({
      method: 'POST',
      path: '/imports/{id}/upload_complete',
      operationId: 'completeImportUpload',
      tag,
      summary: 'Signal that the uploads are done',
      requestHeaders: idempotencyKeyHeader,
      description:
        'Every table with a file is queued, one without fails. An import all of whose tables have ended is finalized at once.',
      params: id,
      response: importDetailSchema,
      handle: async ({ call, params, body }) => {
        await requireImportRight(ctx, call, await getImport(ctx, call, params.id), 'edit');
        body();
        await uploadComplete(ctx, call, params.id);
        return showImportDetail(ctx, await getImport(ctx, call, params.id));
      },
    }),
    route({
      method: 'POST',
      path: '/imports/{id}/complete',
      tag,
      summary: 'Complete an import by hand',
      requestHeaders: idempotencyKeyHeader,
      description: 'Tables that have not begun are cancelled, running ones finish.',
      params: id,
      response: importDetailSchema,
      handle: async ({ call, params, body }) => {
        await requireImportRight(ctx, call, await getImport(ctx, call, params.id), 'edit');
        body();
        await completeImport(ctx, call, params.id);
        return showImportDetail(ctx, await getImport(ctx, call, params.id));
      },
    }),
    route({
      method: 'POST',
      path: '/imports/{id}/cancel',
      tag,
      summary: 'Cancel an import',
      requestHeaders: idempotencyKeyHeader,
      description:
        'Tables that have not begun are cancelled at once, one that is being read or merged soon after: none of its rows is loaded. What was merged before stays, and its table says so.',
      extension: true,
      params: id,
      response: importDetailSchema,
      handle: async ({ call, params, body }) => {
        await requireImportRight(ctx, call, await getImport(ctx, call, params.id), 'edit');
        body();
        await cancelImport(ctx, call, params.id);
        return showImportDetail(ctx, await getImport(ctx, call, params.id));
      },
    }),
  ];
}
