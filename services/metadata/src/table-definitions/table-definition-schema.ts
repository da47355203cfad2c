// The parts of a table definition that drafts and deployed tables show alike.
import { z } from 'zod';
import { branchReferenceSchema } from '../branches.routes.ts';

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
  domain: z.object({ id: z.int(), name: z.string(), abbreviation: z.string().nullable() }),
  branch: branchReferenceSchema,
};
