// The shape of a deployment in answers.
import { z } from 'zod';
import { branchReferenceSchema } from '../../branches/branch-schema.ts';
import { allowedShape } from '../../rights/allowed-actions.ts';
import { type HistoryEntry, historyEntrySchema } from '../change-history.ts';
import { tableDiffSchema } from '../table-diff.ts';
import { deploymentStates } from './deployment-states.ts';

const deploymentShape = {
  id: z.int(),
  branch_id: z.int(),
  branch: branchReferenceSchema,
  status: z.enum(deploymentStates),
  created_by: z.int().nullable(),
  approved_by: z.int().nullable(),
  deployed_by: z.int().nullable(),
  comment: z.string().nullable(),
  error: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  deployed_at: z.iso.datetime().nullable(),
  table_definitions: z.array(
    z
      .object({
        id: z.int(),
        key: z.string(),
        name: z.string(),
        version: z.int().nullable().meta({ description: 'Null when the definition has been deleted.' }),
        deployed_version: z.int().nullable(),
        needs_deployment: z.boolean().nullable(),
      })
      .meta({ id: 'DeploymentTable' }),
  ),
  remove_table_definition_ids: z
    .array(z.int())
    .optional()
    .meta({ description: 'Those of `table_definitions` that are taken out of service, when there are any.' }),
  ...allowedShape,
};

export const deploymentSummarySchema = z.object(deploymentShape).meta({ id: 'Deployment' });
export const deploymentSchema = z
  .object({
    ...deploymentShape,
    actions: z.array(historyEntrySchema),
    diffs: z.array(tableDiffSchema),
    revision: z.string().nullable().meta({
      description: 'Names the state that the diffs were made of; `deploy` can insist on it. Null when it has ended.',
    }),
  })
  .meta({ id: 'DeploymentDetails' });

/** The members of a refusal for what was not reviewed, besides the problems. */
export const refusalShape = {
  diffs: z.array(tableDiffSchema).optional().meta({
    description: 'As the deployment shows them now, when what would be deployed is not what was shown.',
  }),
  revision: z
    .string()
    .optional()
    .meta({ description: 'Names what `diffs` were made of: send it to deploy just that.' }),
};

// Times are Dates until the answer is written.
type Dated<T> = {
  [K in keyof T]: K extends 'created_at' | 'updated_at' ? Date : K extends 'deployed_at' ? Date | null : T[K];
};
export type DeploymentSummary = Dated<z.infer<typeof deploymentSummarySchema>>;
export type Deployment = Dated<Omit<z.infer<typeof deploymentSchema>, 'actions'>> & { actions: HistoryEntry[] };
