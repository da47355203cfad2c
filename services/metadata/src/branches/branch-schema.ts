// The shape of a branch in the answers of other resources.
import { z } from 'zod';

const branchTypeSchema = z.enum(['shared', 'private']);

export const branchReferenceSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    branch_type: branchTypeSchema,
    is_default: z.boolean(),
    is_protected: z.boolean(),
  })
  .meta({ id: 'BranchReference' });
