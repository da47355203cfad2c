// The tables that a deployment takes out of service: the request to data, and the blockers that
// data doesn't know, columns of other definitions that refer to them.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { requireRight } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { placeOf } from '../../rights/place.ts';
import type { TableDiff } from '../table-diff.ts';
import type { WantedTable } from './wanted-tables.ts';

type Reader = Pick<Prisma.TransactionClient, 'deployed_table_definition' | 'column_definition'>;

/** A table to be removed. `references`: columns of definitions that stay, as `Table.column`. */
export type Removal = { table: WantedTable; references: string[] };

/** The tables among these that are in service on the branch; `version` is the deployed one. */
export async function findRemovals(
  db: Reader,
  { accountId }: { accountId: number },
  branchId: number,
  ids: number[],
): Promise<Removal[]> {
  if (ids.length === 0) return [];
  const where = { id: { in: ids }, account_id: accountId, branch_id: branchId };
  const tables = await db.deployed_table_definition.findMany({ where, orderBy: { id: 'asc' } });
  const columns = await db.column_definition.findMany({
    where: { account_id: accountId, foreign_key_table_id: { in: ids }, table_definition_id: { notIn: ids } },
    select: { name: true, foreign_key_table_id: true, table_definition: { select: { name: true } } },
    orderBy: { id: 'asc' },
  });
  const referring = Map.groupBy(columns, (column) => column.foreign_key_table_id as number);
  return tables.map((table) => ({
    table: {
      table_definition_id: table.id,
      lineage_id: table.lineage_id,
      uuid: table.uuid,
      key: table.key,
      name: table.name,
      description: '',
      branch_id: table.branch_id,
      domain_id: table.domain_id,
      load_type: table.load_type,
      version: table.version,
      columns: [],
      is_removed: true,
    },
    references: (referring.get(table.id) ?? []).map((column) => `${column.table_definition.name}.${column.name}`),
  }));
}

const referencesSentence = (references: string[]) =>
  `Columns of other definitions refer to this table: ${references.join(', ')}`;

/** A sentence for each table to be removed that columns refer to. */
export function describeReferences(removals: Removal[]): string[] {
  return removals
    .filter(({ references }) => references.length > 0)
    .map(({ table, references }) => `${table.name}: ${referencesSentence(references)}`);
}

/** Adds the columns that refer to a table to the blockers of its removal. */
export function withReferences(diffs: TableDiff[], removals: Removal[]): TableDiff[] {
  const byId = new Map(removals.map(({ table, references }) => [table.table_definition_id, references]));
  return diffs.map((diff) => {
    const references = byId.get(diff.table_definition_id) ?? [];
    if (references.length === 0) return diff;
    return { ...diff, blockers: [...diff.blockers, { message: referencesSentence(references), rows: 0 }] };
  });
}

/** The member of answers and events that names the removed tables; absent without any. */
export const removalIds = (ids: number[]) => (ids.length > 0 ? { remove_table_definition_ids: ids } : {});

/**
 * Throws 404, 403 or 422 unless the caller may develop these tables, and all are in service on the
 * branch and not among those that are kept. A table that is not in service needs no deployment: its
 * definition can be deleted.
 */
export async function requireRemovals(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  ids: number[],
  kept: ReadonlySet<number>,
): Promise<void> {
  const places = await findPlaces(ctx, call, ids);
  if (places.size < ids.length) throw notFound('Table definition');
  for (const place of places.values()) await requireRight(ctx.rights, call, 'develop', placeOf(place));
  const field = 'remove_table_definition_ids';
  const problems = ids.flatMap((id): Problem[] => {
    const place = places.get(id);
    const params = { table_definition_id: id };
    if (place?.branch_id !== branchId) return [elsewhereProblem(field, id)];
    if (kept.has(id)) {
      const message = `Table definition ${id} can't be both deployed and removed`;
      return [{ code: 'incompatible', message, field, params }];
    }
    if (place.isInService) return [];
    const message = `Table definition ${id} is not in service; delete its definition instead`;
    return [{ code: 'wrong_state', message, field, params }];
  });
  if (problems.length > 0) throw validationFailed(problems);
}

/** The problem of a definition that is on another branch. */
export const elsewhereProblem = (field: string, id: number): Problem => ({
  code: 'invalid_reference',
  message: `Table definition ${id} is not on this branch`,
  field,
  params: { table_definition_id: id },
});

type Place = { id: number; domain_id: number; branch_id: number; isInService: boolean };

/**
 * The places of definitions, and of tables still in service whose definition was deleted, by id.
 */
export async function findPlaces(ctx: MetadataContext, call: CallContext, ids: number[]): Promise<Map<number, Place>> {
  const where = { id: { in: ids }, account_id: call.accountId };
  const select = { id: true, domain_id: true, branch_id: true } as const;
  const drafts = await ctx.prisma.table_definition.findMany({ where, select });
  const deployed = await ctx.prisma.deployed_table_definition.findMany({ where, select });
  const inService = new Set(deployed.map(({ id }) => id));
  return new Map(
    [...deployed, ...drafts].map((place) => [place.id, { ...place, isInService: inService.has(place.id) }]),
  );
}
