// What requests for sets of rows send and get.
import { limits } from '@almanac/service-kit/limits';
import { tableInBody } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import { filterModelSchema, searchSchema } from './table-data.schemas.ts';

// The document has the schema of this name from service-kit (`api/error-schema.ts`).
const problem = z.looseObject({ code: z.string(), message: z.string() }).meta({ id: 'Problem' });

const matchedCount = z.int().meta({ description: 'The rows that match, unchanged ones too.' });
const messageText = z.string().meta({ description: 'For people.' });

export const dryRunSchema = z
  .boolean()
  .optional()
  .meta({ description: 'Changes nothing: the answer says what would be done, and the problems that it would have.' });

export const problemsSchema = z
  .array(problem)
  .meta({ description: 'What the request would be refused for with 422; empty when it would be done.' });

/** The members of the body that select the rows of a table. */
export const matchesInBody = {
  ...tableInBody,
  filterModel: filterModelSchema.optional().meta({
    description: 'As in a grid query; the live rows that it finds. It or `q` is needed unless `all` is true.',
  }),
  q: searchSchema.optional(),
  all: z
    .boolean()
    .optional()
    .meta({ description: '`true` selects every live row; then there is no filterModel and no `q`.' }),
};

const expectedCountSchema = z.int().min(0).max(limits.rowsPerSetWrite);
export const expectedCount = expectedCountSchema.meta({
  description: 'How many rows must match; otherwise 422, and nothing is done.',
});

/** The same, with how many they must be, or a rehearsal. */
export const selectionInBody = {
  ...matchesInBody,
  expected_count: expectedCountSchema.optional().meta({
    description: 'How many rows must match; otherwise 422, and nothing is done. Required without `dry_run`.',
  }),
  dry_run: dryRunSchema,
};

/** Any id that the gateway takes as `X-Request-Id`. */
export const requestIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9._-]{8,128}$/, 'must be the id of a request')
  .meta({ description: 'The `X-Request-Id` of its answer; `request_id` of the versions in the history of a row.' });

const rehearsalSchema = z
  .object({
    matched: matchedCount,
    would_change: z.int().meta({ description: 'The rows that would get a new version; 0 when there are problems.' }),
    problems: problemsSchema,
  })
  .meta({ id: 'RowSetRehearsal', description: 'The answer with `dry_run`.' });

export const updatedWhereSchema = z.union([
  z
    .object({
      matched: matchedCount,
      updated_count: z.int().meta({ description: 'Without the rows that had the values already.' }),
      message: messageText,
    })
    .meta({ id: 'UpdatedWhere' }),
  rehearsalSchema,
]);

export const deletedWhereSchema = z.union([
  z.object({ matched: matchedCount, deleted_count: z.int(), message: messageText }).meta({ id: 'DeletedWhere' }),
  rehearsalSchema,
]);

const undoRehearsalSchema = z
  .object({
    matched: z.int().meta({ description: 'The rows that the request wrote.' }),
    would_delete: z.int(),
    would_restore: z.int(),
    would_change: z.int(),
    problems: problemsSchema,
  })
  .meta({ id: 'UndoRehearsal', description: 'The answer with `dry_run`; the counts are 0 when there are problems.' });

export const undoneSchema = z.union([
  z
    .object({
      deleted_count: z.int().meta({ description: 'Rows that the request had created or restored.' }),
      restored_count: z.int().meta({ description: 'Rows that the request had deleted.' }),
      changed_count: z.int().meta({ description: 'Rows that have the values of before again.' }),
      message: messageText,
    })
    .meta({ id: 'UndoneRequest' }),
  undoRehearsalSchema,
]);
