// Import mappings: how the columns of files become the columns of one table, kept for reuse. One
// per table can be its default.
import type { TableDefinition__Output } from '@almanac/protos/generated/almanac/metadata/v1/TableDefinition.ts';
import { type ListQuery, page, prismaOrderBy, prismaWhere, window } from '@almanac/service-kit/api/list-query';
import { normalizeName } from '@almanac/service-kit/api/names';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { type Action, allows, requireRight, type Where } from '@almanac/service-kit/rights/rights';
import { requireSameTable, type TableReference } from '@almanac/service-kit/rights/table-reference';
import type { JobsContext } from '../context.ts';
import type { import_mapping, Prisma } from '../generated/prisma/client.ts';
import { findEarlierResult, transactOnce } from '../idempotency.ts';
import { readPlaces } from '../table-places.ts';
import { lockMappings, type Transaction } from '../transaction.ts';
import { readAccountDateStyle } from './account-date-style.ts';
import { transactionCode } from './column-plan.ts';
import { type ColumnMapping, completeEntry, type Mapping, mappingOf } from './mapping.ts';
import { type MappedTable, mappingProblems } from './mapping-checks.ts';

export const mappingFields = {
  id: 'integer',
  table_definition_id: 'integer',
  name: 'text',
  date_style: 'text',
  is_default: 'boolean',
  created_at: 'time',
  updated_at: 'time',
} as const;

type EntryInput = { source_column: string } & {
  [Field in keyof Omit<ColumnMapping, 'source_column'>]?: ColumnMapping[Field] | null | undefined;
};

export type MappingAttributes = { name?: string | undefined; is_default?: boolean | undefined } & {
  [Field in keyof Omit<Mapping, 'column_mappings'>]?: Mapping[Field] | undefined;
} & { column_mappings?: EntryInput[] | undefined };

/** The mappings of tables that the caller may view, of one table when asked. */
export async function listMappings(
  ctx: JobsContext,
  call: CallContext,
  reference: TableReference | undefined,
  list: ListQuery,
) {
  const ofTable = reference ? { table_definition_id: await readTableId(ctx, call, reference) } : {};
  const all: Prisma.import_mappingWhereInput = { account_id: call.accountId, ...ofTable };
  const { AND } = prismaWhere(list.conditions);
  const where = { ...all, AND: [...AND, ...(await visibleTables(ctx, call, all))] };
  const [rows, count] = await Promise.all([
    ctx.prisma.import_mapping.findMany({ where, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.import_mapping.count({ where }),
  ]);
  return page(rows.map(showMapping), list, count);
}

// Of an unknown key an id that no table has: the list is empty, as that of an unknown id.
async function readTableId(ctx: JobsContext, call: CallContext, reference: TableReference): Promise<number> {
  if ('id' in reference && reference.branchId === undefined) return reference.id;
  const table = await unlessMissing(() => ctx.metadata.GetTableDefinition(call, requestOf(reference)));
  if (table && (await maySee(ctx, call, placeOf(table)))) requireSameTable(reference, table);
  return table?.id ?? ('id' in reference ? reference.id : 0);
}

const maySee = async ({ rights }: JobsContext, call: CallContext, place: Where) =>
  call.userId === undefined || allows(await rights.get(call), 'view', place);

// Jobs knows which tables have mappings, metadata knows where the tables are.
async function visibleTables(ctx: JobsContext, call: CallContext, all: Prisma.import_mappingWhereInput) {
  if (call.userId === undefined) return [];
  const held = await ctx.rights.get(call);
  if (allows(held, 'view', {}) && held.closedBranches.size === 0) return [];
  const tables = await ctx.prisma.import_mapping.findMany({
    where: all,
    distinct: ['table_definition_id'],
    select: { table_definition_id: true },
  });
  const ids = tables.map(({ table_definition_id }) => table_definition_id);
  const places = await readPlaces(ctx, call, ids);
  const seen = ids.filter((id) => allows(held, 'view', places.get(id) as Where));
  return [{ table_definition_id: { in: seen } }];
}

/** One mapping of a table that the caller may view. */
export async function getVisibleMapping(ctx: JobsContext, call: CallContext, id: number): Promise<import_mapping> {
  const found = await getMapping(ctx, call, id);
  await requireRightOnTable(ctx, call, 'view', found.table_definition_id);
  return found;
}

async function requireRightOnTable(ctx: JobsContext, call: CallContext, action: Action, id: number): Promise<void> {
  if (call.userId === undefined) return;
  const places = await readPlaces(ctx, call, [id]);
  const missing = () => notFound('Import mapping');
  await requireRight(ctx.rights, call, action, places.get(id) as Where, { missing });
}

/** One mapping; one of another account is not found. */
export async function getMapping(ctx: { prisma: Transaction }, call: CallContext, id: number): Promise<import_mapping> {
  const found = await ctx.prisma.import_mapping.findFirst({ where: { id, account_id: call.accountId } });
  if (!found) throw notFound('Import mapping');
  return found;
}

/** A mapping as shown to a caller. */
export function showMapping(row: import_mapping) {
  return {
    ...mappingOf(row),
    table_definition_id: row.table_definition_id,
    is_default: row.is_default,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Finds the table and requires the right to load it. */
export async function requireTable(
  ctx: JobsContext,
  call: CallContext,
  reference: TableReference,
): Promise<MappedTable & { id: number }> {
  const table = await ctx.metadata.GetTableDefinition(call, requestOf(reference));
  await requireRight(ctx.rights, call, 'edit', placeOf(table));
  requireSameTable(reference, table);
  return { ...table, findTarget: (id) => findTarget(ctx, call, id) };
}

const requestOf = (reference: TableReference) =>
  'id' in reference ? { id: reference.id } : { key: reference.key, branch_id: reference.branchId };

const placeOf = ({ id, domain_id, branch_id }: TableDefinition__Output): Where => ({
  domainId: domain_id,
  branchId: branch_id,
  tableDefinitionId: id,
});

// A lookup reveals which records exist, so it needs `view` on their table.
const findTarget = (ctx: JobsContext, call: CallContext, id: number) =>
  unlessMissing(async () => {
    const target = await ctx.metadata.GetTableDefinition(call, { id });
    await requireRight(ctx.rights, call, 'view', placeOf(target));
    return target;
  });

async function unlessMissing<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'not_found') return undefined;
    throw error;
  }
}

const mappingDefaults: Omit<Mapping, 'date_style'> = {
  decimal_separator: null,
  delimiter: null,
  quote: null,
  encoding: null,
  has_header: true,
  column_mappings: [],
};

/** Creates a mapping of the table. */
export async function createMapping(
  ctx: JobsContext,
  call: CallContext,
  table: MappedTable & { id: number },
  attributes: MappingAttributes & { name: string },
): Promise<import_mapping> {
  const done = await findEarlierResult<number>(ctx, call);
  if (done !== undefined) return getMapping(ctx, call, done);
  const date_style = attributes.date_style ?? (await readAccountDateStyle(ctx, call));
  const data = await checkMapping(ctx, call, table, { ...mappingDefaults, date_style }, attributes);
  return saveMapping(ctx, call, { table_definition_id: table.id }, attributes, (tx) =>
    tx.import_mapping.create({
      data: {
        account_id: call.accountId,
        table_definition_id: table.id,
        name: attributes.name,
        is_default: attributes.is_default ?? false,
        date_style,
        ...data,
      },
    }),
  );
}

/** Changes the given attributes and nothing else. */
export async function updateMapping(
  ctx: JobsContext,
  call: CallContext,
  found: import_mapping,
  table: MappedTable,
  attributes: MappingAttributes,
): Promise<import_mapping> {
  const data: Prisma.import_mappingUpdateManyMutationInput = await checkMapping(
    ctx,
    call,
    table,
    mappingOf(found),
    attributes,
  );
  if (attributes.name !== undefined) data.name = attributes.name;
  if (attributes.is_default !== undefined) data.is_default = attributes.is_default;
  return saveMapping(ctx, call, found, attributes, async (tx) => {
    const where = { id: found.id, account_id: call.accountId };
    const { count } = await tx.import_mapping.updateMany({ where, data });
    if (count === 0) throw notFound('Import mapping');
    return tx.import_mapping.findFirstOrThrow({ where });
  });
}

// Checks the given attributes together with those that stay; 422 when they contradict each other.
async function checkMapping(
  ctx: JobsContext,
  call: CallContext,
  table: MappedTable,
  before: Mapping,
  { name: _name, is_default: _isDefault, column_mappings: given, ...style }: MappingAttributes,
): Promise<Partial<Mapping>> {
  const named: Partial<Mapping> = Object.fromEntries(Object.entries(style).filter(([, value]) => value !== undefined));
  const whole: Mapping = { ...before, ...named };
  if (given) whole.column_mappings = given.map((entry) => toEntry(entry, table));
  const problems = [...styleProblems(whole)];
  if (given || style.date_style || style.decimal_separator !== undefined || style.has_header !== undefined)
    problems.push(...(await mappingProblems(ctx, call, table, whole)));
  if (problems.length > 0) throw validationFailed(problems);
  return given ? { ...named, column_mappings: whole.column_mappings } : named;
}

const styleProblems = ({ delimiter, decimal_separator }: Mapping): Problem[] =>
  delimiter === ',' && decimal_separator === ','
    ? [{ code: 'incompatible', message: "The decimal separator can't be the delimiter", field: 'decimal_separator' }]
    : [];

// The entry with its defaults, and its target spelled as in the table.
function toEntry({ source_column, ...given }: EntryInput, { columns }: MappedTable): ColumnMapping {
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
  const entry = completeEntry({ source_column: source_column.trim(), ...said });
  const target = entry.target_column?.trim().toLowerCase();
  const own = [...columns.map(({ name }) => name), transactionCode].find((name) => name.toLowerCase() === target);
  return own === undefined ? entry : { ...entry, target_column: own };
}

/**
 * Deletes a mapping. Imports that use it keep their copy. The table may have been removed before.
 */
export async function deleteMapping(ctx: JobsContext, call: CallContext, found: import_mapping): Promise<void> {
  await requireRightOnTable(ctx, call, 'edit', found.table_definition_id);
  const { count } = await ctx.prisma.import_mapping.deleteMany({ where: { id: found.id, account_id: call.accountId } });
  if (count === 0) throw notFound('Import mapping');
}

// A new default replaces the old one. Instances of the previous release take no lock; against those
// the partial unique index holds.
async function saveMapping(
  ctx: JobsContext,
  call: CallContext,
  { id, table_definition_id }: Pick<import_mapping, 'table_definition_id'> & { id?: number },
  attributes: MappingAttributes,
  change: (tx: Transaction) => Promise<import_mapping>,
): Promise<import_mapping> {
  let changed: import_mapping | undefined;
  try {
    const written = await transactOnce(ctx, call, async (tx) => {
      const mine = { account_id: call.accountId, table_definition_id };
      await lockMappings(tx, table_definition_id);
      if (attributes.name !== undefined) await requireFreeName(tx, mine, attributes.name, id);
      if (attributes.is_default)
        await tx.import_mapping.updateMany({ where: { ...mine, is_default: true }, data: { is_default: false } });
      changed = await change(tx);
      return changed.id;
    });
    // As it was written: another call may have set another default since.
    return changed ?? (await getMapping(ctx, call, written));
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    if (JSON.stringify((error as { meta?: unknown }).meta ?? {}).includes('import_mapping_one_default'))
      throw new ServiceError('unavailable', 'Another default was set at the same moment; try again.', { cause: error });
    throw nameTaken(error);
  }
}

const nameTaken = (cause?: unknown) =>
  new ServiceError(
    'already_exists',
    { code: 'taken', message: 'Name has already been taken', field: 'name' },
    { cause },
  );

// Names are compared as people compare them, here and not by an index: earlier releases compared
// bytes, so a table may already have two mappings of one name, which both stay.
async function requireFreeName(
  tx: Transaction,
  mine: { account_id: number; table_definition_id: number },
  name: string,
  id: number | undefined,
): Promise<void> {
  const named = await tx.import_mapping.findMany({ where: mine, select: { id: true, name: true } });
  if (named.some((own) => own.id === id && own.name === name)) return;
  const key = normalizeName(name);
  if (named.some((other) => other.id !== id && normalizeName(other.name) === key)) throw nameTaken();
}
