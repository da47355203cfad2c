// Saved views of tables: how a user wants to see the rows. A private one is its owner's, the others
// are everybody's who may view the table; a locked one is changed by its owner alone.
import { parseJson } from '@almanac/service-kit/api/json-body';
import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import { visibleNameSchema } from '@almanac/service-kit/api/names';
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { rule } from '@almanac/service-kit/problems';
import { requireRight, type Where } from '@almanac/service-kit/rights/rights';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { transactOnce } from '../requests/idempotency.ts';
import { placeOf } from '../rights/place.ts';
import { lockRow, type Transaction, transact } from '../transaction.ts';

export const sharings = ['private', 'shared', 'locked'] as const;
type Sharing = (typeof sharings)[number];

/** `user_id` of the view that a table opens with for everybody. */
const everybody = 0;

const isSmall = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= limits.viewStateBytes;
export const stateSchema = z
  .record(z.string(), z.unknown())
  .refine(
    isSmall,
    rule('too_long', `is too long (maximum is ${limits.viewStateBytes} bytes of JSON)`, {
      maximum: limits.viewStateBytes,
    }),
  )
  .meta({
    description: `A JSON object of at most ${limits.viewStateBytes} bytes; only its programs know what is in it.`,
  });

const attributes = {
  name: visibleNameSchema,
  sharing: z.enum(sharings).optional().meta({
    description:
      '`private` (by default): for its owner alone. `shared`: for all who may view the table. `locked`: the same, and only its owner changes it.',
  }),
  state: stateSchema,
  is_default: z.boolean().optional().meta({
    description: 'The table opens with it for all who have no default of their own. Takes `develop` on the table.',
  }),
  is_own_default: z.boolean().optional().meta({ description: 'The table opens with it for the caller.' }),
};
export const newViewAttributes = attributes;
export const viewAttributes = { ...attributes, name: attributes.name.optional(), state: attributes.state.optional() };
type NewAttributes = z.infer<z.ZodObject<typeof newViewAttributes>>;
type Attributes = z.infer<z.ZodObject<typeof viewAttributes>>;

export const viewFilters = {
  id: 'integer',
  name: 'text',
  sharing: 'text',
  owner_id: 'integer',
  created_at: 'time',
  updated_at: 'time',
} as const;

const fieldsFor = (userId: number | undefined) =>
  ({
    id: true,
    table_definition_id: true,
    owner_id: true,
    name: true,
    sharing: true,
    created_at: true,
    updated_at: true,
    defaults: { where: { user_id: { in: [everybody, userId ?? everybody] } }, select: { user_id: true } },
  }) as const satisfies Prisma.saved_viewSelect;

type Stored = Prisma.saved_viewGetPayload<{ select: ReturnType<typeof fieldsFor> }>;

function shown({ defaults, ...view }: Stored) {
  const users = defaults.map(({ user_id }) => user_id);
  return {
    ...view,
    is_default: users.includes(everybody),
    is_own_default: users.some((userId) => userId !== everybody),
  };
}
export type View = ReturnType<typeof shown>;
export type ViewDetail = View & { state: unknown };

/** The views of a table that the caller sees, without their states. */
export async function listViews(
  ctx: MetadataContext,
  call: CallContext,
  tableId: number,
  list: ListQuery,
): Promise<Page<View>> {
  await requireTable(ctx, call, tableId);
  const where = { table_definition_id: tableId, AND: [visibleTo(call), prismaWhere(list.conditions)] };
  const select = fieldsFor(call.userId);
  const [data, total] = await Promise.all([
    ctx.prisma.saved_view.findMany({ where, select, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.saved_view.count({ where }),
  ]);
  return page(data.map(shown), list, total);
}

const visibleTo = ({ accountId, userId }: CallContext): Prisma.saved_viewWhereInput => ({
  account_id: accountId,
  OR: [{ sharing: { not: 'private' } }, ...(userId === undefined ? [] : [{ owner_id: userId }])],
});

/**
 * The views that these tables open with for the caller, by table: their own default, else
 * everybody's.
 */
export async function readOpeningViews(
  ctx: MetadataContext,
  call: CallContext,
  tableIds: number[],
): Promise<ReadonlyMap<number, number>> {
  const defaults = await ctx.prisma.saved_view_default.findMany({
    where: {
      account_id: call.accountId,
      table_definition_id: { in: tableIds },
      user_id: { in: [everybody, call.userId ?? everybody] },
      view: visibleTo(call),
    },
    orderBy: { user_id: 'asc' }, // the caller's own replaces everybody's
    select: { table_definition_id: true, view_id: true },
  });
  return new Map(defaults.map(({ table_definition_id, view_id }) => [table_definition_id, view_id]));
}

/** One view with its state; another user's private one is not found. */
export async function getView(ctx: MetadataContext, call: CallContext, id: number): Promise<ViewDetail> {
  await requireView(ctx, call, id);
  return read(ctx.prisma, call, id);
}

async function read(db: Pick<Transaction, 'saved_view'>, call: CallContext, id: number): Promise<ViewDetail> {
  const select = { ...fieldsFor(call.userId), state: true };
  const view = await db.saved_view.findFirst({ where: { id, ...visibleTo(call) }, select });
  if (!view) throw notFound('View');
  const { state, ...rest } = view;
  return { ...shown(rest), state: parseJson(Buffer.from(state), 'The state') };
}

type Owned = { id: number; owner_id: number; sharing: string; table_definition_id: number };

// The view with the place of its table, whose rows the caller may view.
async function requireView(ctx: MetadataContext, call: CallContext, id: number): Promise<Owned & { place: Where }> {
  const select = { id: true, owner_id: true, sharing: true, table_definition_id: true };
  const view = await ctx.prisma.saved_view.findFirst({ where: { id, ...visibleTo(call) }, select });
  if (!view) throw notFound('View');
  const { place } = await requireTable(ctx, call, view.table_definition_id, 'View');
  return { ...view, place };
}

// The table in service, else its draft.
async function requireTable(ctx: MetadataContext, call: CallContext, id: number, noun = 'Table definition') {
  const query = {
    where: { id, account_id: call.accountId },
    select: { id: true, branch_id: true, domain_id: true },
  } as const;
  const table =
    (await ctx.prisma.deployed_table_definition.findFirst(query)) ??
    (await ctx.prisma.table_definition.findFirst(query));
  if (!table) throw notFound(noun);
  const place = placeOf(table);
  await requireRight(ctx.rights, call, 'view', place, { missing: () => notFound(noun) });
  return { branch_id: table.branch_id, place };
}

/** Saves a new view of the caller. */
export async function createView(
  ctx: MetadataContext,
  call: CallContext,
  tableId: number,
  readAttributes: () => NewAttributes,
): Promise<ViewDetail> {
  const owner_id = requireUser(call);
  const { branch_id, place } = await requireTable(ctx, call, tableId);
  const { sharing = 'private', state, name, ...defaults } = readAttributes();
  await checkDefault(ctx, call, place, defaults.is_default, sharing);
  const create = async (tx: Transaction) => {
    const owner = { account_id: call.accountId, table_definition_id: tableId, owner_id };
    if ((await tx.saved_view.count({ where: owner })) >= limits.viewsPerUser)
      throw validationFailed({
        code: 'limit_reached',
        message: `A user may save at most ${limits.viewsPerUser} views of a table`,
        params: { maximum: limits.viewsPerUser },
      });
    const data = { ...owner, branch_id, name, sharing, state: JSON.stringify(state) };
    const view = await tx.saved_view.create({ data, select: { id: true, table_definition_id: true } });
    await setDefaults(tx, call, view, defaults);
    return read(tx, call, view.id);
  };
  return transactOnce(ctx, call, create, ({ id }) => id);
}

/**
 * Changes a view: its owner, or for a shared one a developer of the table. Every user who sees a
 * view may make it their own default.
 */
export async function updateView(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readAttributes: () => Attributes,
): Promise<ViewDetail> {
  requireUser(call);
  const before = await requireView(ctx, call, id);
  const { is_default, is_own_default, state, name, sharing } = readAttributes();
  const isChanged = name !== undefined || sharing !== undefined || state !== undefined;
  if (isChanged) await requireChange(ctx, call, before, sharing !== undefined);
  await checkDefault(ctx, call, before.place, is_default, (sharing ?? before.sharing) as Sharing);
  return transact(ctx, async (tx) => {
    if (!(await lockRow(tx, 'saved_view', call.accountId, id))) throw notFound('View');
    const now = await tx.saved_view.findUniqueOrThrow({ where: { id }, select: { sharing: true, owner_id: true } });
    const isOwner = now.owner_id === call.userId;
    if (now.sharing === 'private' && !isOwner) throw notFound('View');
    if (isChanged && now.sharing === 'locked' && !isOwner) throw onlyOwner(false);
    if (isChanged) {
      const data = { name, sharing, ...(state === undefined ? {} : { state: JSON.stringify(state) }) };
      await tx.saved_view.update({ where: { id }, data });
    }
    const isPrivate = (sharing ?? now.sharing) === 'private';
    // Others no longer see it, so their tables open without it.
    if (isPrivate) await tx.saved_view_default.deleteMany({ where: { view_id: id, user_id: { not: now.owner_id } } });
    const wanted = isPrivate ? false : is_default;
    await setDefaults(tx, call, before, { is_default: wanted, is_own_default });
    return read(tx, call, id);
  });
}

/** Deletes a view; takes what a change takes. */
export async function deleteView(ctx: MetadataContext, call: CallContext, id: number): Promise<void> {
  const view = await requireView(ctx, call, id);
  await requireChange(ctx, call, view, false);
  // False when its owner has made it private, locked it or deleted it since the check.
  const changeable = { OR: [{ owner_id: requireUser(call) }, { sharing: 'shared' }] };
  const { count } = await ctx.prisma.saved_view.deleteMany({
    where: { id, account_id: call.accountId, ...changeable },
  });
  if (count === 0) throw notFound('View');
}

async function requireChange(
  ctx: MetadataContext,
  call: CallContext,
  view: Owned & { place: Where },
  isSharing: boolean,
): Promise<void> {
  if (view.owner_id === call.userId) return;
  if (view.sharing !== 'shared' || isSharing) throw onlyOwner(isSharing);
  await requireRight(ctx.rights, call, 'develop', view.place);
}

const onlyOwner = (isSharing: boolean) =>
  new ServiceError('forbidden', {
    code: 'missing_right',
    message: isSharing ? 'Only its owner may change who sees a view.' : 'Only its owner may change a locked view.',
  });

async function checkDefault(
  ctx: MetadataContext,
  call: CallContext,
  place: Where,
  isDefault: boolean | undefined,
  sharing: Sharing,
): Promise<void> {
  if (isDefault === undefined) return;
  await requireRight(ctx.rights, call, 'develop', place);
  if (isDefault && sharing === 'private')
    throw validationFailed({
      code: 'incompatible',
      message: "Is default must be false for a private view, which others don't see",
      field: 'is_default',
    });
}

type Defaults = { is_default?: boolean | undefined; is_own_default?: boolean | undefined };

async function setDefaults(
  tx: Transaction,
  call: CallContext,
  view: { id: number; table_definition_id: number },
  { is_default, is_own_default }: Defaults,
): Promise<void> {
  const { id: view_id, table_definition_id } = view;
  const wanted: [number, boolean | undefined][] = [
    [everybody, is_default],
    [requireUser(call), is_own_default],
  ];
  for (const [user_id, isDefault] of wanted) {
    if (isDefault === false) await tx.saved_view_default.deleteMany({ where: { view_id, user_id } });
    // One statement, so that of concurrent ones the last wins and none fails.
    else if (isDefault)
      await tx.$executeRaw`
        insert into saved_view_default (account_id, table_definition_id, user_id, view_id)
        values (${call.accountId}, ${table_definition_id}, ${user_id}, ${view_id})
        on conflict (account_id, table_definition_id, user_id) do update set view_id = excluded.view_id`;
  }
}

/**
 * Deletes the private views of a deleted user, and lets developers change the locked ones, which
 * have no owner any more. Idempotent.
 */
export async function releaseViews(ctx: MetadataContext, accountId: number, userId: number): Promise<void> {
  const owned = { account_id: accountId, owner_id: userId };
  await ctx.prisma.saved_view.deleteMany({ where: { ...owned, sharing: 'private' } });
  await ctx.prisma.saved_view.updateMany({ where: { ...owned, sharing: 'locked' }, data: { sharing: 'shared' } });
  await ctx.prisma.saved_view_default.deleteMany({ where: { account_id: accountId, user_id: userId } });
}
