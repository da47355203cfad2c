// The shapes of table definitions in answers, and the handles that requests name them by.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { z } from 'zod';
import { branchReferenceSchema } from '../branches/branch-schema.ts';
import { tableRowPolicyShape } from '../branches/row-policies.ts';
import { allowedShape } from '../rights/allowed-actions.ts';
import { statisticsShape } from '../table-statistics/table-statistics.ts';

export const definitionShape = {
  id: z.int(),
  uuid: z.uuid(),
  key: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  domain_id: z.int(),
  branch_id: z.int(),
  load_type: z.enum(['manual', 'source']),
  lookup_display_column_id: z.int().nullable(),
  version: z.int(),
  domain: z
    .object({ id: z.int(), name: z.string(), abbreviation: z.string().nullable() })
    .meta({ id: 'DomainReference' }),
  branch: branchReferenceSchema,
};

export const draftShape = {
  ...definitionShape,
  deployed_version: z.int().nullable(),
  needs_deployment: z.boolean(),
  cloned_from_id: z.int().nullable(),
  cloned_from_version: z.int().nullable(),
  rows_from_id: z
    .int()
    .nullable()
    .meta({ description: 'The table whose rows it begins with when it is deployed first.' }),
  ...tableRowPolicyShape,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  ...allowedShape,
  ...statisticsShape,
};
export const draftSchema = z
  .object(draftShape)
  .meta({ id: 'TableDefinition', description: 'The draft of a table on a branch.' });

export const params = { id: z.string().meta({ description: 'Numeric id, UUID, or key (with `branch_id`).' }) };
export const query = { branch_id: idTextSchema.optional().meta({ description: 'Required with a key.' }) };

/** The filters of lists, by what a table belongs to. */
export const ofBranch = z
  .union([z.literal('default'), idTextSchema], { error: 'must be a positive integer, or default' })
  .optional()
  .meta({ description: 'Only those of this branch. Extension: `default` is the default branch.' });
export const ofDomain = idTextSchema.optional().meta({ description: 'Only those of this domain.' });
