// Deployed table definitions: each table in service, as it was deployed last.

import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { branchReferenceFields } from '../branches/branches.ts';
import type { DataType } from '../columns/column-values.ts';
import type { MetadataContext } from '../context.ts';
import { domainReferenceFields } from '../domains/domains.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { placeOf } from '../rights/place.ts';
import { readVisibleReach, requireVisible, visibleDefinitions } from '../rights/visibility.ts';
import { filteredTables, type TableFilter } from '../table-definitions/table-definitions.ts';

/** A column as it was deployed. */
export type DeployedColumn = {
  id: number;
  name: string;
  data_type: DataType;
  length: number | null;
  scale: number | null;
  is_primary_key: boolean;
  is_required: boolean;
  foreign_key_table_id: number | null;
  is_hierarchy: boolean;
  valid_values: string | null;
  description: string | null;
  position: number;
};

const deployedFields = {
  id: true,
  uuid: true,
  key: true,
  name: true,
  description: true,
  domain_id: true,
  branch_id: true,
  load_type: true,
  lookup_display_column_id: true,
  version: true,
  columns: true,
  deployed_by: true,
  deployed_at: true,
  domain: { select: domainReferenceFields },
  branch: { select: branchReferenceFields },
} as const satisfies Prisma.deployed_table_definitionSelect;

type Stored = Prisma.deployed_table_definitionGetPayload<{ select: typeof deployedFields }>;
export type DeployedTableDefinition = Omit<Stored, 'columns'> & {
  table_definition_id: number;
  column_definitions: DeployedColumn[];
};

export const deployedFilters = {
  id: 'integer',
  uuid: 'uuid',
  key: 'text',
  name: 'text',
  description: 'text?',
  domain_id: 'integer',
  branch_id: 'integer',
  load_type: 'text',
  lookup_display_column_id: 'integer?',
  version: 'integer',
  deployed_by: 'integer?',
  deployed_at: 'time',
} as const;

/** Lists the deployed tables that the caller sees, with their domain, branch and columns. */
export async function listDeployedTableDefinitions(
  ctx: MetadataContext,
  call: CallContext,
  list: ListQuery,
  filter: TableFilter,
): Promise<Page<DeployedTableDefinition>> {
  const visible = visibleDefinitions(await readVisibleReach(ctx, call));
  const where = { account_id: call.accountId, ...filteredTables(filter), ...prismaWhere(list.conditions), ...visible };
  const [data, total] = await Promise.all([
    ctx.prisma.deployed_table_definition.findMany({
      where,
      select: deployedFields,
      orderBy: prismaOrderBy(list),
      ...window(list),
    }),
    ctx.prisma.deployed_table_definition.count({ where }),
  ]);
  return page(data.map(shown), list, total);
}

/** One deployed table that the caller sees. */
export async function getDeployedTableDefinition(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
): Promise<DeployedTableDefinition> {
  const where = { id, account_id: call.accountId };
  const deployed = await ctx.prisma.deployed_table_definition.findFirst({ where, select: deployedFields });
  if (!deployed) throw notFound('Deployed table definition');
  await requireVisible(ctx, call, placeOf(deployed), 'Deployed table definition');
  return shown(deployed);
}

function shown({ columns, ...deployed }: Stored): DeployedTableDefinition {
  const column_definitions = (columns as (DeployedColumn & { lineage_id: number })[]).map(
    // Tables that an earlier release deployed have no `is_hierarchy`.
    ({ lineage_id: _lineage, ...column }) => ({ ...column, is_hierarchy: column.is_hierarchy ?? false }),
  );
  return { ...deployed, table_definition_id: deployed.id, column_definitions };
}
