// Column definitions, drafted one by one. The lock on their table keeps its column count, positions
// and version consistent.

import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import { requireRight } from '@almanac/service-kit/rights/rights';
import { requireSameTable, type TableReference } from '@almanac/service-kit/rights/table-reference';
import { type ColumnDefinition, columnFields, inOrder } from '../columns/column-fields.ts';
import { type ColumnShape, type GivenColumn, resolveColumn } from '../columns/column-rules.ts';
import type { MetadataContext } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { transactOnce } from '../requests/idempotency.ts';
import { placeOf } from '../rights/place.ts';
import { readVisibleReach, requireVisible, visibleDefinitions } from '../rights/visibility.ts';
import {
  announceDefinition,
  draftChange,
  keyOf,
  requireNamedDefinition,
  requireTableDefinition,
  type TableDefinition,
} from '../table-definitions/table-definitions.ts';
import { isBeingRemoved } from '../table-definitions/table-references.ts';
import { lockRow, mapUniqueViolation, nameTaken, type Transaction, transact } from '../transaction.ts';

export const columnFilters = {
  id: 'integer',
  table_definition_id: 'integer',
  name: 'text',
  data_type: 'text',
  length: 'integer?',
  scale: 'integer?',
  is_primary_key: 'boolean',
  is_required: 'boolean',
  foreign_key_table_id: 'integer?',
  is_hierarchy: 'boolean',
  valid_values: 'text?',
  description: 'text?',
  position: 'integer',
  created_at: 'time',
  updated_at: 'time',
} as const;

/**
 * Lists the columns of one table, in the order of the table by default; without a table, all
 * columns that the caller sees.
 */
export async function listColumnDefinitions(
  ctx: MetadataContext,
  call: CallContext,
  list: ListQuery,
  reference: TableReference | undefined,
): Promise<Page<ColumnDefinition>> {
  const visible = visibleDefinitions(await readVisibleReach(ctx, call));
  const { AND } = prismaWhere(list.conditions);
  const ofTable = await whereOfTable(ctx, call, reference, visible);
  const where = { account_id: call.accountId, AND: [...AND, ofTable, { table_definition: visible }] };
  const orderBy = list.sort || reference === undefined ? prismaOrderBy(list) : inOrder;
  const [data, total] = await Promise.all([
    ctx.prisma.column_definition.findMany({ where, select: columnFields, orderBy, ...window(list) }),
    ctx.prisma.column_definition.count({ where }),
  ]);
  return page(data, list, total);
}

// A table that is unknown or not visible has no columns; one with two names must be one table.
async function whereOfTable(
  ctx: MetadataContext,
  call: CallContext,
  reference: TableReference | undefined,
  visible: Prisma.table_definitionWhereInput,
): Promise<Prisma.column_definitionWhereInput> {
  if (!reference) return {};
  if (!('id' in reference)) return { table_definition: keyOf(reference) };
  const { id } = reference;
  if (reference.branchId !== undefined) {
    const where = { id, account_id: call.accountId, ...visible };
    const table = await ctx.prisma.table_definition.findFirst({ where, select: { key: true, branch_id: true } });
    if (table) requireSameTable(reference, table);
  }
  return { table_definition_id: id };
}

/** One column of a table that the caller sees. */
export async function getColumnDefinition(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
): Promise<ColumnDefinition> {
  const column = await requireColumnDefinition(ctx, call, id);
  const table = await requireTableDefinition(ctx, call, String(column.table_definition_id));
  await requireVisible(ctx, call, placeOf(table), 'Column definition');
  return column;
}

async function requireColumnDefinition(ctx: MetadataContext, call: CallContext, id: number): Promise<ColumnDefinition> {
  const column = await ctx.prisma.column_definition.findFirst({
    where: { id, account_id: call.accountId },
    select: columnFields,
  });
  if (!column) throw notFound('Column definition');
  return column;
}

/** Adds a column at the end of a table. */
export async function createColumnDefinition(
  ctx: MetadataContext,
  call: CallContext,
  reference: TableReference,
  read: () => GivenColumn,
): Promise<ColumnDefinition> {
  const table = await requireNamedDefinition(ctx, call, reference);
  await requireRight(ctx.rights, call, 'develop', placeOf(table));
  requireSameTable(reference, table);
  const given = read();
  await requireViewOf(ctx, call, table, given.foreign_key_table_id);
  const create = async (tx: Transaction) => {
    if (!(await lockRow(tx, 'table_definition', call.accountId, table.id))) throw notFound('Table definition');
    const { column, problems } = resolveColumn(undefined, given);
    const others = await listOthers(tx, call, table.id);
    if (others.length >= limits.columnsPerTable)
      problems.push({
        code: 'limit_reached',
        message: `Table definition can have at most ${limits.columnsPerTable} columns`,
        params: { maximum: limits.columnsPerTable },
      });
    await requireFit(tx, call, table, column, others, problems);
    const id = await nextColumnId(tx);
    const created = await tx.column_definition.create({
      data: {
        id,
        lineage_id: id,
        account_id: call.accountId,
        table_definition_id: table.id,
        name_key: column.name.toLowerCase(),
        position: Math.max(0, ...others.map(({ position }) => position)) + 1,
        ...column,
      },
      select: columnFields,
    });
    await recordDraftChange(tx, call, table);
    return created;
  };
  return mapUniqueViolation(nameTaken, () => transactOnce(ctx, call, create, ({ id }) => id));
}

async function nextColumnId(tx: Transaction): Promise<number> {
  const rows = await tx.$queryRaw<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('column_definition', 'id'))::int as id`;
  return (rows[0] as { id: number }).id;
}

type Other = { id: number; position: number; is_primary_key: boolean };

async function listOthers(tx: Transaction, call: CallContext, tableId: number, exceptId?: number): Promise<Other[]> {
  const columns = await tx.column_definition.findMany({
    where: { table_definition_id: tableId, account_id: call.accountId },
    select: { id: true, position: true, is_primary_key: true },
  });
  return columns.filter(({ id }) => id !== exceptId);
}

/** Throws the problems of a column, with those that depend on its table and the other columns. */
async function requireFit(
  tx: Transaction,
  call: CallContext,
  table: TableDefinition,
  column: ColumnShape,
  others: Other[],
  problems: Problem[],
): Promise<void> {
  const keyColumns = others.filter((other) => other.is_primary_key).length;
  if (column.is_primary_key && keyColumns >= limits.keyColumnsPerTable)
    problems.push({
      code: 'limit_reached',
      message: `Primary key can have at most ${limits.keyColumnsPerTable} columns`,
      field: 'is_primary_key',
      params: { maximum: limits.keyColumnsPerTable },
    });
  const target = column.foreign_key_table_id;
  if (target !== null && !(await mayReferTo(tx, call, table, target))) problems.push(targetMissing);
  if (column.is_hierarchy && target !== table.id)
    problems.push({
      code: 'incompatible',
      message: 'Is hierarchy is only for columns that refer to their own table',
      field: 'is_hierarchy',
    });
  if (problems.length > 0) throw validationFailed(problems);
}

const targetMissing: Problem = {
  code: 'invalid_reference',
  message: "Foreign key table doesn't exist on this branch",
  field: 'foreign_key_table_id',
};

// A reference reveals which keys the table has and can keep its rows from being deleted, so it
// needs `view` on the table.
async function requireViewOf(
  ctx: MetadataContext,
  call: CallContext,
  table: TableDefinition,
  target: number | null | undefined,
): Promise<void> {
  if (target === undefined || target === null || target === table.id) return;
  const found = await ctx.prisma.table_definition.findFirst({
    where: { id: target, account_id: call.accountId, branch_id: table.branch_id },
    select: { id: true, domain_id: true, branch_id: true },
  });
  if (!found) return;
  await requireRight(ctx.rights, call, 'view', placeOf(found), { missing: () => validationFailed(targetMissing) });
}

// The shared lock keeps the target from being removed before the commit.
async function mayReferTo(
  tx: Transaction,
  call: CallContext,
  table: TableDefinition,
  target: number,
): Promise<boolean> {
  if (target === table.id) return true;
  if (!(await lockRow(tx, 'table_definition', call.accountId, target, 'read'))) return false;
  const where = { id: target, account_id: call.accountId, branch_id: table.branch_id };
  return (await tx.table_definition.count({ where })) === 1 && !(await isBeingRemoved(tx, call, target));
}

async function recordDraftChange(tx: Transaction, call: CallContext, table: TableDefinition): Promise<void> {
  await tx.table_definition.update({ where: { id: table.id }, data: draftChange });
  await announceDefinition(tx, call, 'updated', table);
}

/** Changes a column. Its lineage stays, so a new name is a rename. */
export async function updateColumnDefinition(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  read: () => GivenColumn,
): Promise<ColumnDefinition> {
  const { table_definition_id, foreign_key_table_id } = await requireColumnDefinition(ctx, call, id);
  const table = await requireTableDefinition(ctx, call, String(table_definition_id));
  await requireRight(ctx.rights, call, 'develop', placeOf(table), { missing: () => notFound('Column definition') });
  const given = read();
  if (given.foreign_key_table_id !== foreign_key_table_id)
    await requireViewOf(ctx, call, table, given.foreign_key_table_id);
  return mapUniqueViolation(nameTaken, () =>
    transact(ctx, async (tx) => {
      const before = await lockColumn(tx, call, table.id, id);
      const { column, problems } = resolveColumn(before as ColumnShape, given);
      const others = await listOthers(tx, call, table.id, id);
      if ((given.position ?? 1) > others.length + 1) problems.push(placeMissing(others.length + 1));
      await requireFit(tx, call, table, column, others, problems);
      const isMoved = given.position !== undefined && (await moveColumn(tx, before, others, given.position));
      const isSame = Object.entries(column).every(([name, value]) => before[name as keyof ColumnShape] === value);
      if (isSame && !isMoved) return before;
      const updated = await tx.column_definition.update({
        where: { id },
        data: { ...column, name_key: column.name.toLowerCase() },
        select: columnFields,
      });
      await recordDraftChange(tx, call, table);
      return updated;
    }),
  );
}

const placeMissing = (maximum: number): Problem => ({
  code: 'out_of_range',
  message: `Position must be at most ${maximum}, the number of columns`,
  field: 'position',
  params: { maximum },
});

/** Puts a column at a place among the others of its table; answers whether it has moved. */
async function moveColumn(tx: Transaction, column: ColumnDefinition, others: Other[], place: number): Promise<boolean> {
  const before = [column, ...others].toSorted((a, b) => a.position - b.position || a.id - b.id).map(({ id }) => id);
  const order = before.filter((id) => id !== column.id).toSpliced(place - 1, 0, column.id);
  if (order.every((id, index) => id === before[index])) return false;
  await tx.$executeRaw`
    update column_definition c set position = o.place
    from unnest(${order}::int[]) with ordinality o(id, place)
    where c.id = o.id and c.table_definition_id = ${column.table_definition_id}`;
  return true;
}

async function lockColumn(tx: Transaction, call: CallContext, tableId: number, id: number): Promise<ColumnDefinition> {
  const locked = await lockRow(tx, 'table_definition', call.accountId, tableId);
  const where = { id, table_definition_id: tableId, account_id: call.accountId };
  const column = locked && (await tx.column_definition.findFirst({ where, select: columnFields }));
  if (!column) throw notFound('Column definition');
  return column;
}

/** Deletes a column of the draft. A table with it as lookup display column then has none. */
export async function deleteColumnDefinition(ctx: MetadataContext, call: CallContext, id: number): Promise<void> {
  const { table_definition_id } = await requireColumnDefinition(ctx, call, id);
  const table = await requireTableDefinition(ctx, call, String(table_definition_id));
  await requireRight(ctx.rights, call, 'develop', placeOf(table), { missing: () => notFound('Column definition') });
  await transact(ctx, async (tx) => {
    await lockColumn(tx, call, table.id, id);
    await tx.column_definition.deleteMany({ where: { id, account_id: call.accountId } });
    await recordDraftChange(tx, call, table);
  });
}
