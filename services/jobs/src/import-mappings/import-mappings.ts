// Import mappings: how the columns of files become the columns of one table, kept for reuse. One per table can be its default.
import type { CallContext } from '@almanac/service-kit/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { type ListQuery, page, prismaOrderBy, prismaWhere, window } from '@almanac/service-kit/list-query';
import { findSqlState } from '@almanac/service-kit/postgres-errors';
import { type Action, allows, requireRight, type Where } from '@almanac/service-kit/rights';
import type { Context } from '../context.ts';
import type { import_mapping, Prisma } from '../generated/prisma/client.ts';
import { type ColumnMapping, transactionCode } from '../imports/import-columns.ts';
import { readPlaces } from '../table-places.ts';
import { type Transaction, transact } from '../transaction.ts';

export const mappingFields = {
  id: 'integer',
  table_definition_id: 'integer',
  name: 'text',
  date_style: 'text',
  is_default: 'boolean',
  created_at: 'time',
  updated_at: 'time',
} as const;

export type MappingAttributes = {
  name?: string | undefined;
  date_style?: string | undefined;
  delimiter?: string | null | undefined;
  is_default?: boolean | undefined;
  column_mappings?:
    | (Omit<ColumnMapping, 'target_column'> & { target_column?: string | null | undefined })[]
    | undefined;
};

/** The mappings of tables that the caller may view, of one table when asked. */
export async function listMappings(
  ctx: Context,
  call: CallContext,
  tableDefinitionId: number | undefined,
  list: ListQuery,
) {
  const ofTable = tableDefinitionId === undefined ? {} : { table_definition_id: tableDefinitionId };
  const all: Prisma.import_mappingWhereInput = { account_id: call.accountId, ...ofTable };
  const { AND } = prismaWhere(list.conditions);
  const where = { ...all, AND: [...AND, ...(await seenBy(ctx, call, all))] };
  const [rows, count] = await Promise.all([
    ctx.prisma.import_mapping.findMany({ where, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.import_mapping.count({ where }),
  ]);
  return page(rows.map(showMapping), list, count);
}

// Which tables have mappings is known here, where the tables are is known to metadata.
async function seenBy(ctx: Context, call: CallContext, all: Prisma.import_mappingWhereInput) {
  if (call.userId === undefined) return [];
  const held = await ctx.rights.get(call);
  if (allows(held, 'view', {})) return [];
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
export async function getVisibleMapping(ctx: Context, call: CallContext, id: number): Promise<import_mapping> {
  const found = await getMapping(ctx, call, id);
  await requireRightOnTable(ctx, call, 'view', found.table_definition_id);
  return found;
}

async function requireRightOnTable(ctx: Context, call: CallContext, action: Action, id: number): Promise<void> {
  if (call.userId === undefined) return;
  const places = await readPlaces(ctx, call, [id]);
  await requireRight(ctx.rights, call, action, places.get(id) as Where);
}

/** One mapping; another account's is as unknown as none. */
export async function getMapping(ctx: Context, call: CallContext, id: number): Promise<import_mapping> {
  const found = await ctx.prisma.import_mapping.findFirst({ where: { id, account_id: call.accountId } });
  if (!found) throw notFound('Import mapping');
  return found;
}

/** What a caller sees of it. */
export function showMapping(row: import_mapping) {
  return {
    id: row.id,
    table_definition_id: row.table_definition_id,
    name: row.name,
    date_style: row.date_style as 'ISO',
    delimiter: row.delimiter,
    is_default: row.is_default,
    column_mappings: row.column_mappings as {
      source_column: string;
      target_column: string | null;
      format: string | null;
    }[],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Finds the table and requires the right to load it; answers the names of its columns. */
export async function requireTable(ctx: Context, call: CallContext, tableDefinitionId: number): Promise<string[]> {
  const table = await ctx.metadata.GetTableDefinition(call, { id: tableDefinitionId });
  await requireRight(ctx.rights, call, 'edit', {
    domainId: table.domain_id,
    branchId: table.branch_id,
    tableDefinitionId,
  });
  return table.column_names;
}

/** Makes a mapping of a table whose columns are `columnNames`. */
export async function createMapping(
  ctx: Context,
  call: CallContext,
  tableDefinitionId: number,
  columnNames: string[],
  attributes: MappingAttributes & { name: string },
): Promise<import_mapping> {
  const column_mappings = checkColumns(attributes.column_mappings ?? [], columnNames);
  return write(ctx, call, tableDefinitionId, attributes, (tx) =>
    tx.import_mapping.create({
      data: {
        account_id: call.accountId,
        table_definition_id: tableDefinitionId,
        name: attributes.name,
        date_style: attributes.date_style ?? 'ISO',
        delimiter: attributes.delimiter ?? null,
        is_default: attributes.is_default ?? false,
        column_mappings,
      },
    }),
  );
}

/** Changes what is named and nothing else. */
export async function updateMapping(
  ctx: Context,
  call: CallContext,
  found: import_mapping,
  columnNames: string[],
  attributes: MappingAttributes,
): Promise<import_mapping> {
  const data: Prisma.import_mappingUpdateManyMutationInput = {};
  if (attributes.name !== undefined) data.name = attributes.name;
  if (attributes.date_style !== undefined) data.date_style = attributes.date_style;
  if (attributes.delimiter !== undefined) data.delimiter = attributes.delimiter;
  if (attributes.is_default !== undefined) data.is_default = attributes.is_default;
  if (attributes.column_mappings !== undefined)
    data.column_mappings = checkColumns(attributes.column_mappings, columnNames);
  return write(ctx, call, found.table_definition_id, attributes, async (tx) => {
    const where = { id: found.id, account_id: call.accountId };
    const { count } = await tx.import_mapping.updateMany({ where, data });
    if (count === 0) throw notFound('Import mapping');
    return tx.import_mapping.findFirstOrThrow({ where });
  });
}

/** Removes it; imports that took it up go on with what it was. The table may have gone before it. */
export async function deleteMapping(ctx: Context, call: CallContext, found: import_mapping): Promise<void> {
  await requireRightOnTable(ctx, call, 'edit', found.table_definition_id);
  const { count } = await ctx.prisma.import_mapping.deleteMany({ where: { id: found.id, account_id: call.accountId } });
  if (count === 0) throw notFound('Import mapping');
}

// A new default takes the place of the old one; the partial unique index holds when two come at once.
async function write(
  ctx: Context,
  call: CallContext,
  tableDefinitionId: number,
  attributes: MappingAttributes,
  change: (tx: Transaction) => Promise<import_mapping>,
): Promise<import_mapping> {
  try {
    return await transact(ctx, async (tx) => {
      if (attributes.is_default)
        await tx.import_mapping.updateMany({
          where: { account_id: call.accountId, table_definition_id: tableDefinitionId, is_default: true },
          data: { is_default: false },
        });
      return change(tx);
    });
  } catch (error) {
    if (findSqlState(error) !== '23505') throw error;
    if (JSON.stringify((error as { meta?: unknown }).meta ?? {}).includes('import_mapping_one_default'))
      throw new ServiceError('unavailable', 'Another default was set at the same moment; try again.', { cause: error });
    throw new ServiceError('already_exists', 'Name has already been taken', { cause: error });
  }
}

// Patterns of PostgreSQL for dates and times; nothing else, and nothing that is ever run as an expression.
const formatPattern =
  /^(?:YYYY|YY|MONTH|MON|MM|DDD|DD|DAY|DY|HH24|HH12|HH|MI|SS|MS|US|AM|PM|TZH|TZM|TZ|FM|"T"|T|[ \-/.,:])+$/i;

function checkColumns(given: NonNullable<MappingAttributes['column_mappings']>, columnNames: string[]) {
  const problems: string[] = [];
  const names = new Map(columnNames.map((name) => [name.toLowerCase(), name]));
  const sources = new Set<string>();
  const targets = new Set<string>();
  const checked = given.map(({ source_column, target_column = null, format = null }) => {
    const source = source_column.trim().toLowerCase();
    if (source === '') problems.push("Source column can't be blank");
    else if (sources.has(source)) problems.push(`Source column ${source_column} is mapped twice`);
    sources.add(source);
    if (format !== null && (format.length > 64 || !formatPattern.test(format)))
      problems.push(`Format ${format.slice(0, 64)} is not a date format`);
    if (target_column === null) return { source_column, target_column, format };
    const folded = target_column.toLowerCase();
    const target = folded === transactionCode ? transactionCode : names.get(folded);
    if (target === undefined)
      problems.push(
        folded.startsWith('svc_')
          ? `Target column ${target_column} is a system column`
          : `Target column ${target_column} is not a column of the table`,
      );
    else if (targets.has(target)) problems.push(`Target column ${target} is mapped from two columns`);
    else targets.add(target);
    return { source_column, target_column: target ?? target_column, format };
  });
  if (problems.length > 0) throw validationFailed([...new Set(problems)]);
  return checked;
}
