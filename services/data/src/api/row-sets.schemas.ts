// What requests for sets of rows send and get.
import { limits } from '@almanac/service-kit/limits';
import { tableInBody } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import { filterModelSchema } from './table-data.schemas.ts';

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

/** The members of the body that select rows. */
export const selectionInBody = {
  ...tableInBody,
  filterModel: filterModelSchema
    .optional()
    .meta({ description: 'As in a grid query; the live rows that it finds. Needed unless `all` is true.' }),
  all: z.boolean().optional().meta({ description: '`true` selects every live row; then there is no filterModel.' }),
  expected_count: z.int().min(0).max(limits.rowsPerSetWrite).optional().meta({
    description: 'How many rows must match; otherwise 422, and nothing is done. Required without `dry_run`.',
  }),
  dry_run: dryRunSchema,
};

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
