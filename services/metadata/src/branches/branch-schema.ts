// The shapes of a branch in answers.
import { z } from 'zod';
import { allowedShape } from '../rights/allowed-actions.ts';
import { branchRowPolicyShape } from './row-policies.ts';

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

export const branchShape = {
  ...branchReferenceSchema.shape,
  description: z.string().nullable(),
  parent_branch_id: z.int().nullable(),
  owner_id: z.int().nullable(),
  ...branchRowPolicyShape,
  is_current: z.boolean().meta({ description: 'Whether the calling user works on it.' }),
  ...allowedShape,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};
export const branchSchema = z
  .object(branchShape)
  .meta({ id: 'Branch', description: 'A place to change definitions and rows apart from `main`.' });
