// What answers show of a deployment.
import { z } from 'zod';
import { branchReferenceSchema } from '../../branches/branch-schema.ts';
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
    z.object({
      id: z.int(),
      key: z.string(),
      name: z.string(),
      version: z.int().nullable().meta({ description: 'Null when the definition has been deleted.' }),
      deployed_version: z.int().nullable(),
      needs_deployment: z.boolean().nullable(),
    }),
  ),
  remove_table_definition_ids: z
    .array(z.int())
    .optional()
    .meta({ description: 'Those of `table_definitions` that are taken out of service, when there are any.' }),
};

export const deploymentSummarySchema = z.object(deploymentShape);
export const deploymentSchema = z.object({
  ...deploymentShape,
  actions: z.array(
    z.object({
      action: z.string(),
      user: z.int().nullable(),
      comment: z.string().nullable(),
      at: z.iso.datetime(),
      request_id: z.string().nullable().meta({
        description:
          'The `X-Request-Id` of the call that did it; of `succeed` and `fail` that of the call that began it, also when another one finished it: histories and the audit log name the same.',
      }),
    }),
  ),
  diffs: z.array(tableDiffSchema),
  revision: z.string().nullable().meta({
    description: 'Names the state that the diffs were made of; `deploy` can insist on it. Null when it has ended.',
  }),
});

export type DeploymentSummary = Dated<z.infer<typeof deploymentSummarySchema>>;
export type Deployment = Dated<z.infer<typeof deploymentSchema>>;

// Times are Dates until the answer is written.
type Times = 'created_at' | 'updated_at' | 'deployed_at';
type Dated<T> = {
  [K in keyof T]: K extends Times
    ? K extends 'deployed_at'
      ? Date | null
      : Date
    : K extends 'actions'
      ? DeploymentActionShown[]
      : T[K];
};
export type DeploymentActionShown = {
  action: string;
  user: number | null;
  comment: string | null;
  at: Date;
  request_id: string | null;
};
