// Table definitions: the drafts of tables, as they will be deployed (design 3.4).

import { descriptionSchema, idSchema } from '@almanac/service-kit/api/input';
import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import { normalizeName } from '@almanac/service-kit/api/names';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import { updatedAct } from '@almanac/service-kit/messaging/audit';
import type { Problem } from '@almanac/service-kit/problems';
import { reachOf, requireRight } from '@almanac/service-kit/rights/rights';
import type { TableReference } from '@almanac/service-kit/rights/table-reference';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { z } from 'zod';
import { type BranchReference, branchReferenceFields, requireBranch } from '../branches/branches.ts';
import {
  effectiveRowPolicy,
  isInForce,
  type RowPolicy,
  readSplit,
  rowPolicyChange,
  rowPolicyFields,
  rowPolicyRevisions,
  sendRowPoliciesSoon,
  splitRowPolicy,
  tableRowPolicyAttributes,
} from '../branches/row-policies.ts';
import { type ColumnDefinition, columnFields, inOrder } from '../columns/column-fields.ts';
import type { MetadataContext } from '../context.ts';
import { domainReferenceFields } from '../domains/domains.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { listResourceGroups, type ResourceGroup } from '../groups/resource-groups.ts';
import { transactOnce } from '../requests/idempotency.ts';
import { placeOf } from '../rights/place.ts';
import { readVisibleReach, requireVisible, visibleDefinitions } from '../rights/visibility.ts';
import {
  announce,
  byCaller,
  lockRow,
  mapUniqueViolation,
  nameTaken,
  recordAct,
  type Transaction,
  transact,
} from '../transaction.ts';
import { readTableHandle } from './table-handle.ts';
import { deriveKey, tableNameSchema } from './table-names.ts';

export const storedFields = {
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
  deployed_version: true,
  needs_deployment: true,
  cloned_from_id: true,
  cloned_from_version: true,
  rows_from_id: true,
  created_at: true,
  updated_at: true,
  ...rowPolicyFields,
  domain: { select: domainReferenceFields },
  branch: { select: { ...branchReferenceFields, ...rowPolicyFields, ...rowPolicyRevisions } },
} as const satisfies Prisma.table_definitionSelect;

type Stored = Prisma.table_definitionGetPayload<{ select: typeof storedFields }>;

/** `row_policy`: how its rows change: what it says, else its branch. */
export type TableDefinition = Omit<Stored, 'branch'> & {
  branch: BranchReference;
  row_policy: RowPolicy & { in_force: boolean };
};

/** A stored definition as answers show it. */
export function shownDefinition({ branch, ...definition }: Stored): TableDefinition {
  const { id, name, branch_type, is_default, is_protected } = branch;
  const row_policy = { ...effectiveRowPolicy(definition, branch), in_force: isInForce(branch) };
  return { ...definition, branch: { id, name, branch_type, is_default, is_protected }, row_policy };
}

export const definitionFilters = {
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
  deployed_version: 'integer?',
  needs_deployment: 'boolean',
  cloned_from_id: 'integer?',
  cloned_from_version: 'integer?',
  rows_from_id: 'integer?',
  row_changes: 'text?',
  required_approvals: 'integer?',
  self_approval: 'boolean?',
  comment_required: 'boolean?',
  machine_imports: 'boolean?',
  created_at: 'time',
  updated_at: 'time',
} as const;

const optional = {
  description: descriptionSchema.optional(),
  load_type: z.enum(['manual', 'source']).optional(),
  lookup_display_column_id: idSchema.nullable().optional(),
};
export const newDefinitionAttributes = { name: tableNameSchema, domain_id: idSchema, ...optional };
export const definitionAttributes = {
  name: tableNameSchema.optional(),
  domain_id: idSchema.optional(),
  ...optional,
  ...tableRowPolicyAttributes,
};
type NewAttributes = z.infer<z.ZodObject<typeof newDefinitionAttributes>>;
type Attributes = z.infer<z.ZodObject<typeof definitionAttributes>>;

/** How many definitions an account may have, by whether its plan has branching. */
export const maximumDefinitions = { withBranching: 5_000, otherwise: 1_000 };

/** What a list of tables is narrowed to. */
export type TableFilter = { branch_id?: number | 'default'; domain_id?: number };

/** The same as a condition for Prisma. */
export const filteredTables = ({ branch_id, domain_id }: TableFilter) => ({
  domain_id,
  ...(branch_id === 'default' ? { branch: { is_default: true } } : { branch_id }),
});

/** Lists the definitions that the caller sees, with their domain and branch. */
export async function listTableDefinitions(
  ctx: MetadataContext,
  call: CallContext,
  list: ListQuery,
  filter: TableFilter,
): Promise<Page<TableDefinition>> {
  const visible = visibleDefinitions(await readVisibleReach(ctx, call));
  const where = { account_id: call.accountId, ...filteredTables(filter), ...prismaWhere(list.conditions), ...visible };
  const [data, total] = await Promise.all([
    ctx.prisma.table_definition.findMany({
      where,
      select: storedFields,
      orderBy: prismaOrderBy(list),
      ...window(list),
    }),
    ctx.prisma.table_definition.count({ where }),
  ]);
  return page(data.map(shownDefinition), list, total);
}

/** A definition of the account by any of its handles, or 404. */
export async function requireTableDefinition(
  ctx: MetadataContext,
  call: { accountId: number },
  handle: string,
  branchId?: number,
): Promise<TableDefinition> {
  return requireDefinition(ctx, call, readTableHandle(handle, branchId));
}

/** The definition that a request names by its id or its key, or 404. */
export function requireNamedDefinition(
  ctx: MetadataContext,
  call: { accountId: number },
  reference: TableReference,
): Promise<TableDefinition> {
  return requireDefinition(ctx, call, 'id' in reference ? { id: reference.id } : keyOf(reference));
}

/** A key and its branch, as a filter of definitions. */
export const keyOf = ({ key, branchId }: { key: string; branchId: number }) => ({ key, branch_id: branchId });

async function requireDefinition(
  ctx: MetadataContext,
  call: { accountId: number },
  handle: Prisma.table_definitionWhereInput,
): Promise<TableDefinition> {
  const where = { ...handle, account_id: call.accountId };
  const definition = await ctx.prisma.table_definition.findFirst({ where, select: storedFields });
  if (!definition) throw notFound('Table definition');
  return shownDefinition(definition);
}

/** A definition that the caller sees. */
export async function requireVisibleDefinition(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
): Promise<TableDefinition> {
  const definition = await requireTableDefinition(ctx, call, String(id));
  await requireVisible(ctx, call, placeOf(definition));
  return definition;
}

export type TableDefinitionDetail = TableDefinition & {
  column_definitions: ColumnDefinition[];
  user_groups: ResourceGroup[];
};

/** One definition with its columns and the groups that have rights on it. */
export async function getTableDefinition(
  ctx: MetadataContext,
  call: CallContext,
  handle: string,
  branchId?: number,
): Promise<TableDefinitionDetail> {
  const definition = await requireTableDefinition(ctx, call, handle, branchId);
  await requireVisible(ctx, call, placeOf(definition));
  const [columns, groups] = await Promise.all([
    ctx.prisma.column_definition.findMany({
      where: { table_definition_id: definition.id, account_id: call.accountId },
      select: columnFields,
      orderBy: inOrder,
    }),
    listResourceGroups(ctx, call, [
      { type: 'domain', id: definition.domain_id },
      { type: 'branch', id: definition.branch_id },
      { type: 'table_definition', id: definition.id },
    ]),
  ]);
  return { ...definition, column_definitions: columns, user_groups: groups };
}

/** Drafts a new table on a branch. */
export async function createTableDefinition(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  read: () => NewAttributes,
): Promise<TableDefinition> {
  await requireBranch(ctx, call, branchId);
  const attributes = await readWithRight(ctx, call, branchId, read);
  const [key, name_key] = [deriveKey(attributes.name), normalizeName(attributes.name)];
  const create = async (tx: Transaction) => {
    const problems: Problem[] = [];
    if (!(await domainExists(tx, call, attributes.domain_id))) problems.push(domainMissing);
    if (attributes.lookup_display_column_id != null) problems.push(lookupForeign);
    if (problems.length > 0) throw validationFailed(problems);
    await requireRoom(tx, call);
    const id = await nextDefinitionId(tx);
    const created = await tx.table_definition.create({
      data: {
        id,
        account_id: call.accountId,
        lineage_id: id,
        branch_id: branchId,
        key,
        name_key,
        creator_id: call.userId ?? null,
        ...attributes,
      },
      select: storedFields,
    });
    await announceDefinition(tx, call, 'created', created);
    return shownDefinition(created);
  };
  // A table keeps the key of its first name, and different names may lead to the same key.
  const taken = async () => {
    const where = { account_id: call.accountId, branch_id: branchId, name_key };
    const isName = (await ctx.prisma.table_definition.count({ where })) > 0;
    const message = `The key ${key}, which is made from this name, has already been taken`;
    return isName ? nameTaken : ({ code: 'taken', message, field: 'name', params: { key } } satisfies Problem);
  };
  return mapUniqueViolation(taken, () => transactOnce(ctx, call, create, ({ id }) => id));
}

// The right may come from the domain, which the attributes name. A missing right is still reported
// before problems of the attributes.
async function readWithRight(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  read: () => NewAttributes,
): Promise<NewAttributes> {
  let attributes: NewAttributes;
  try {
    attributes = read();
  } catch (error) {
    // The domain is unknown here: developers of any domain get the problems, other users 403.
    if (!(await developsDomains(ctx, call))) await requireRight(ctx.rights, call, 'develop', { branchId });
    throw error;
  }
  await requireRight(ctx.rights, call, 'develop', { branchId, domainId: attributes.domain_id });
  return attributes;
}

async function developsDomains(ctx: MetadataContext, call: CallContext): Promise<boolean> {
  if (call.userId === undefined) return false;
  return reachOf(await ctx.rights.get(call), 'develop').domainIds.length > 0;
}

const domainMissing: Problem = { code: 'invalid_reference', message: "Domain doesn't exist", field: 'domain_id' };
const lookupForeign: Problem = {
  code: 'invalid_reference',
  message: 'Lookup display column must be a column of this table',
  field: 'lookup_display_column_id',
};

async function domainExists(tx: Transaction, call: CallContext, id: number): Promise<boolean> {
  return (await tx.domain.count({ where: { id, account_id: call.accountId } })) === 1;
}

/** Throws 422 when the account's plan allows less than `more` further definitions. */
export async function requireRoom(tx: Transaction, call: RpcCaller, more = 1): Promise<void> {
  const max = call.branching ? maximumDefinitions.withBranching : maximumDefinitions.otherwise;
  const count = await tx.table_definition.count({ where: { account_id: call.accountId } });
  if (count + more > max)
    throw validationFailed({
      code: 'limit_reached',
      message: `The plan allows at most ${max} table definitions`,
      params: { maximum: max },
    });
}

/** The id of a definition about to be created, whose lineage it may start. */
export async function nextDefinitionId(tx: Transaction): Promise<number> {
  return (await nextDefinitionIds(tx, 1))[0] as number;
}

/** The ids of several definitions about to be created. */
export async function nextDefinitionIds(tx: Transaction, count: number): Promise<number[]> {
  const rows = await tx.$queryRaw<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('table_definition', 'id'))::int as id from generate_series(1, ${count}::int)`;
  return rows.map(({ id }) => id);
}

/**
 * Changes a draft; the deployed table stays as it is until the next deployment, but for how its
 * rows change, which needs `admin` or `approve` on the branch, alone.
 */
export async function updateTableDefinition(
  ctx: MetadataContext,
  call: CallContext,
  before: TableDefinition,
  read: () => Attributes,
): Promise<TableDefinition> {
  const { branch_id: branchId } = before;
  const requireDevelop = () => requireRight(ctx.rights, call, 'develop', placeOf(before));
  const { policy, others: attributes, setsPolicy } = await readSplit(ctx, call, branchId, read, requireDevelop);
  if (attributes.domain_id !== undefined && attributes.domain_id !== before.domain_id)
    await requireRight(ctx.rights, call, 'develop', { domainId: attributes.domain_id, branchId });
  const updated = await mapUniqueViolation(nameTaken, () =>
    transact(ctx, async (tx) => {
      if (setsPolicy && !(await lockRow(tx, 'branch', call.accountId, branchId))) throw notFound('Table definition');
      if (!(await lockRow(tx, 'table_definition', call.accountId, before.id))) throw notFound('Table definition');
      const now = await tx.table_definition.findUniqueOrThrow({ where: { id: before.id }, select: storedFields });
      await refuseBrokenLinks(tx, call, before.id, attributes);
      const changes = changesOf(now, attributes);
      const policyChanges = changesOf(now, policy);
      const changesPolicy = Object.keys(policyChanges).length > 0;
      const changesDraft = Object.keys(changes).length > 0;
      if (!changesDraft && !changesPolicy) return now;
      if (changesPolicy) await tx.branch.update({ where: { id: branchId }, data: rowPolicyChange });
      const renamed = attributes.name === undefined ? {} : { name_key: normalizeName(attributes.name) };
      const updated = await tx.table_definition.update({
        where: { id: before.id },
        data: { ...changes, ...renamed, ...(changesDraft && draftChange), ...policyChanges },
        select: storedFields,
      });
      if (changes.domain_id !== undefined) await moveChangesToDomain(tx, before.id, changes.domain_id);
      await announceDefinition(tx, call, 'updated', updated);
      if (changesPolicy) await recordAct(tx, call, updatedAct('table_definition', policyOf(now), policyOf(updated)));
      return updated;
    }),
  );
  const shown = shownDefinition(updated);
  if (!setsPolicy) return shown;
  return { ...shown, row_policy: { ...shown.row_policy, in_force: await sendRowPoliciesSoon(ctx, call, branchId) } };
}

const policyOf = ({ id, ...definition }: Stored) => ({ id, ...splitRowPolicy(definition).policy });

/**
 * Moves the tables of deployments and promotions to the new domain of a definition: the domain
 * decides who sees them.
 */
export async function moveChangesToDomain(tx: Transaction, id: number, domainId: number): Promise<void> {
  const data = { domain_id: domainId };
  await tx.deployment_table.updateMany({ where: { table_definition_id: id }, data });
  const onTarget = { target_definition_id: id };
  const newThere = { table_definition_id: id, target_definition_id: null };
  await tx.promotion_table.updateMany({ where: { OR: [onTarget, newThere] }, data });
}

/** The update of a definition that every change of it or its columns makes. */
export const draftChange = { version: { increment: 1 }, needs_deployment: true } as const;

async function refuseBrokenLinks(tx: Transaction, call: CallContext, id: number, given: Attributes): Promise<void> {
  const problems: Problem[] = [];
  if (given.domain_id !== undefined && !(await domainExists(tx, call, given.domain_id))) problems.push(domainMissing);
  if (given.lookup_display_column_id != null) {
    const where = { id: given.lookup_display_column_id, table_definition_id: id, account_id: call.accountId };
    if ((await tx.column_definition.count({ where })) === 0) problems.push(lookupForeign);
  }
  if (problems.length > 0) throw validationFailed(problems);
}

function changesOf<A extends Attributes>(now: Stored, given: A): A {
  const changed = Object.entries(given).filter(
    ([name, value]) => value !== undefined && value !== now[name as keyof Attributes],
  );
  return Object.fromEntries(changed) as A;
}

/** Announces an event of a definition. */
export async function announceDefinition(
  tx: Transaction,
  call: RpcCaller,
  event: 'created' | 'updated' | 'deleted' | 'cloned' | 'removed' | 'restored',
  definition: { id: number; branch_id: number },
  more: Record<string, unknown> = {},
): Promise<void> {
  const payload = { table_definition_id: definition.id, branch_id: definition.branch_id, ...byCaller(call), ...more };
  await announce(tx, call, `table_definition.${event}`, payload);
}
