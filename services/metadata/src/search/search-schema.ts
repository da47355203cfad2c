// The shapes of what a search finds.
import { z } from 'zod';
import { changeRequestStates } from '../changes/change-requests/change-request-states.ts';
import { deploymentStates } from '../changes/deployments/deployment-states.ts';
import { promotionStates } from '../changes/promotions/promotion-states.ts';

const branchName = { branch_id: z.int(), branch_name: z.string() };

const foundTableSchema = z
  .object({
    id: z.int(),
    key: z.string(),
    name: z.string(),
    domain_id: z.int(),
    ...branchName,
    is_deployed: z.boolean().meta({ description: 'Whether it has rows; key and name are those in service then.' }),
  })
  .meta({ id: 'FoundTable' });
export type FoundTable = z.infer<typeof foundTableSchema>;

const foundColumnSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    table_definition_id: z.int(),
    table_definition_name: z.string(),
    ...branchName,
  })
  .meta({ id: 'FoundColumn', description: 'A column as it is drafted.' });
export type FoundColumn = z.infer<typeof foundColumnSchema>;

const foundDomainSchema = z
  .object({ id: z.int(), name: z.string(), abbreviation: z.string().nullable() })
  .meta({ id: 'FoundDomain' });
export type FoundDomain = z.infer<typeof foundDomainSchema>;

const foundBranchSchema = z.object({ id: z.int(), name: z.string() }).meta({ id: 'FoundBranch' });

const change = { id: z.int(), branch_id: z.int(), updated_at: z.iso.datetime() };
const foundRequestSchema = z
  .object({ ...change, title: z.string(), status: z.enum(changeRequestStates) })
  .meta({ id: 'FoundChangeRequest' });
const foundDeploymentSchema = z
  .object({ ...change, comment: z.string().nullable(), status: z.enum(deploymentStates) })
  .meta({ id: 'FoundDeployment' });
const foundPromotionSchema = z
  .object({ ...change, comment: z.string().nullable(), status: z.enum(promotionStates) })
  .meta({ id: 'FoundPromotion', description: 'Its branch is the one that it changes.' });

export const foundSchema = z
  .object({
    tables: z.array(foundTableSchema).meta({ description: 'By key, name or description.' }),
    columns: z.array(foundColumnSchema).meta({ description: 'By name.' }),
    domains: z.array(foundDomainSchema).meta({ description: 'By name or abbreviation.' }),
    branches: z.array(foundBranchSchema).meta({ description: 'By name.' }),
    change_requests: z.array(foundRequestSchema).meta({ description: 'By number or title.' }),
    deployments: z.array(foundDeploymentSchema).meta({ description: 'By number or comment.' }),
    promotions: z.array(foundPromotionSchema).meta({ description: 'By number or comment.' }),
  })
  .meta({ id: 'Found' });
