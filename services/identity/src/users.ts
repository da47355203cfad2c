// The people of an account: made by administrators, invited by mail, gone with all their tokens.

import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import { createdAct, deletedAct, updatedAct } from '@almanac/service-kit/messaging/audit';
import { isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import { keepAnAdministrator, lockAccount } from './administrators.ts';
import { recordActOf } from './audit.ts';
import type { IdentityContext } from './context.ts';
import { type Transaction, transact } from './database.ts';
import type { Prisma } from './generated/prisma/client.ts';
import { takeInvitationTurn } from './invitation-turns.ts';
import { requestMail } from './mail-requests.ts';
import { emailKey } from './names.ts';
import { revokeFamilies } from './oauth/token-families.ts';
import { closeLinks } from './password-links.ts';
import { announcePermissionChanged, requireAdministrator } from './permissions.ts';
import { findKept, transactOnce } from './repeated-requests.ts';
import { revokeForever } from './revocations.ts';

export const licenseTypes = ['developer', 'end_user'] as const;

/** What an administrator may make of a user; `invited` comes of itself. */
export const settableStatuses = ['active', 'suspended'] as const;

export const userFields = {
  id: 'integer',
  first_name: 'text',
  last_name: 'text',
  email: 'text',
  license_type: 'text',
  status: 'text',
  created_at: 'time',
  updated_at: 'time',
} as const satisfies Fields;

/** What may be seen of a person; the password's hash is not among it. */
export const shownOfUser = {
  id: true,
  first_name: true,
  last_name: true,
  email: true,
  license_type: true,
  status: true,
  created_at: true,
  updated_at: true,
} as const;

/** People of the account, for administrators. */
export async function listUsers(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  await requireAdministrator(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions) };
  const [data, count] = await Promise.all([
    ctx.prisma.user.findMany({ where, select: shownOfUser, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.user.count({ where }),
  ]);
  return page(data, list, count);
}

/** One person with the groups he is in. */
export async function getUser(ctx: IdentityContext, call: CallContext, id: number) {
  const user = await ctx.prisma.user.findFirst({
    where: { id, account_id: call.accountId },
    select: {
      ...shownOfUser,
      assignments: { select: { user_group: { select: { id: true, name: true } } }, orderBy: { id: 'asc' } },
    },
  });
  if (!user) throw notFound('User');
  await requireAdministrator(ctx, call);
  const { assignments, ...own } = user;
  // Relations are read one after the other: a group that is deleted meanwhile is missing, whatever the type says.
  return { ...own, user_groups: assignments.flatMap(({ user_group }) => user_group ?? []) };
}

type NewUser = {
  email: string;
  first_name?: string;
  last_name?: string;
  license_type?: (typeof licenseTypes)[number];
  password?: string;
};

/** Makes a person: invited, or active at once when an administrator gives a password. */
export async function createUser(ctx: IdentityContext, call: CallContext, read: () => NewUser) {
  await requireAdministrator(ctx, call);
  const { password, ...attributes } = read();
  const kept = await findKept(ctx, call);
  if (kept) return kept;
  const access = await accessOf(ctx, password);
  return withUniqueEmail(() =>
    transactOnce(ctx, call, async (tx) => {
      const user = await tx.db.user.create({
        data: { ...attributes, ...access, account_id: call.accountId, email_key: emailKey(attributes.email) },
        select: shownOfUser,
      });
      await recordActOf(tx.db, call, createdAct('user', user));
      if (password === undefined) await invite(ctx, tx, call, user);
      return user;
    }),
  );
}

async function invite(ctx: IdentityContext, tx: Transaction, call: CallContext, user: { id: number; email: string }) {
  await takeInvitationTurn(ctx, tx, { account_id: call.accountId, email: user.email });
  const mail = { account_id: call.accountId, template: 'invitation', user_ids: [user.id] } as const;
  await requestMail(tx, mail, call.requestId);
}

type UserChange = Partial<NewUser> & { status?: (typeof settableStatuses)[number]; keep_sessions?: boolean };

/**
 * Changes a person. A new password ends their sessions and tokens unless the administrator keeps them, and they are told of it;
 * so does a suspension, which they are not.
 */
export async function updateUser(ctx: IdentityContext, call: CallContext, id: number, read: () => UserChange) {
  const present = await ctx.prisma.user.findFirst({ where: { id, account_id: call.accountId }, select: { id: true } });
  if (!present) throw notFound('User');
  await requireAdministrator(ctx, call);
  const { password, status: wanted, keep_sessions, ...attributes } = read();
  if (keep_sessions !== undefined && password === undefined) throw validationFailed('Keep sessions needs a password.');
  if (wanted === 'suspended' && call.userId === id) throw validationFailed("You can't suspend yourself.");
  const { password_hash } = await accessOf(ctx, password);
  return withUniqueEmail(() =>
    transact(ctx.prisma, async (tx) => {
      await lockAccount(tx, call.accountId);
      const where = { id, account_id: call.accountId };
      const { had_password, ...before } = await holdUser(tx, call.accountId, id);
      const status = nextStatus(before.status, wanted, {
        hasPassword: had_password || password !== undefined,
        isGiven: password !== undefined,
      });
      const key = attributes.email === undefined ? {} : { email_key: emailKey(attributes.email) };
      const data = { ...attributes, ...key, password_hash, status };
      const user = await tx.db.user.update({ where, data, select: shownOfUser });
      await recordActOf(tx.db, call, updatedAct('user', before, user));
      const isSuspended = status === 'suspended' && before.status !== status;
      if (isSuspended) await endAccess(ctx, tx, call, id, 'user_suspended');
      else if (password !== undefined && !keep_sessions) await endAccess(ctx, tx, call, id, 'password_set');
      if (password !== undefined) await tellOfPassword(tx, call, id, !keep_sessions);
      // A link on its way to the old mailbox must not undo what was changed, nor open the account to whoever reads there.
      if (isSuspended || password !== undefined || user.email !== before.email) await closeLinks(tx.db, id);
      if (attributes.license_type !== undefined || wanted !== undefined) {
        await keepAnAdministrator(tx, call.accountId);
        await announcePermissionChanged(tx, call.accountId, id, call.requestId);
      }
      return user;
    }),
  );
}

type Held = Prisma.userGetPayload<{ select: typeof shownOfUser }> & { had_password: boolean };

// The row is held: a link that makes the user active, or a log-in, comes before all of the change or after it.
async function holdUser(tx: Transaction, accountId: number, id: number): Promise<Held> {
  const [user] = await tx.db.$queryRaw<Held[]>`
    select id, first_name, last_name, email, license_type, status, created_at, updated_at,
      password_hash is not null as had_password
    from "user" where id = ${id} and account_id = ${accountId} for no key update`;
  if (!user) throw notFound('User');
  return user;
}

// Nobody is active without a password: whoever is let back in without one is invited again. A password alone lifts no suspension.
function nextStatus(
  before: string,
  wanted: (typeof settableStatuses)[number] | undefined,
  { hasPassword, isGiven }: { hasPassword: boolean; isGiven: boolean },
): string {
  if (wanted === 'suspended' || (wanted === undefined && before === 'suspended')) return 'suspended';
  if (wanted === undefined) return isGiven ? 'active' : before;
  if (hasPassword) return 'active';
  if (before !== 'suspended') throw validationFailed('An invited user becomes active by a password.');
  return 'invited';
}

// Sessions first: a yes on a consent page holds its session, so the code it makes is found with the families.
async function endAccess(
  ctx: IdentityContext,
  tx: Transaction,
  call: CallContext,
  id: number,
  reason: 'user_suspended' | 'password_set',
): Promise<void> {
  await tx.db.session.deleteMany({ where: { user_id: id } });
  await revokeFamilies(ctx, tx, { user_id: id }, reason, call.requestId);
}

async function tellOfPassword(tx: Transaction, call: CallContext, id: number, endedTokens: boolean): Promise<void> {
  const after = { by: 'administrator', ended_tokens: endedTokens };
  await recordActOf(tx.db, call, { action: 'password.changed', resource_type: 'user', resource_id: id, after });
  const mail = { account_id: call.accountId, template: 'password_changed', user_ids: [id] } as const;
  await requestMail(tx, mail, call.requestId);
}

/** Deletes a person: his tokens, sessions and memberships go with him. */
export async function deleteUser(ctx: IdentityContext, call: CallContext, id: number): Promise<void> {
  const present = await ctx.prisma.user.findFirst({ where: { id, account_id: call.accountId }, select: { id: true } });
  if (!present) throw notFound('User');
  await requireAdministrator(ctx, call);
  if (call.userId === id) throw validationFailed("You can't delete yourself.");
  await transact(ctx.prisma, async (tx) => {
    await lockAccount(tx, call.accountId);
    const where = { id, account_id: call.accountId };
    const select = { ...shownOfUser, assignments: { select: { user_group_id: true } } };
    const gone = await tx.db.user.findFirst({ where, select });
    if (!gone) throw notFound('User');
    await tx.db.user.delete({ where });
    await keepAnAdministrator(tx, call.accountId);
    const { assignments, ...attributes } = gone;
    const user_group_ids = assignments.map(({ user_group_id }) => user_group_id);
    await recordActOf(tx.db, call, deletedAct('user', { ...attributes, user_group_ids }));
    const subject = { account_id: call.accountId, kind: 'user', subject: String(id), reason: 'user_deleted' } as const;
    await revokeForever(tx, ctx.config, subject, call.requestId);
    await tx.announce('identity.user.deleted', { account_id: call.accountId, user_id: id }, call.requestId);
    await announcePermissionChanged(tx, call.accountId, id, call.requestId);
  });
}

// Hashed before the transaction begins: it takes a while on purpose.
async function accessOf(ctx: IdentityContext, password: string | undefined) {
  if (password === undefined) return { password_hash: undefined };
  return { password_hash: await ctx.passwords.hash(password), status: 'active' };
}

async function withUniqueEmail<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error)) throw validationFailed('Email has already been taken');
    throw error;
  }
}

const contact = { id: true, first_name: true, last_name: true, email: true } as const;

/** People by id, for other services, also suspended ones; unknown ids are left out. */
export function findUsers(ctx: IdentityContext, accountId: number, ids: number[]) {
  return ctx.prisma.user.findMany({
    where: { account_id: accountId, id: { in: ids } },
    select: { ...contact, status: true },
    orderBy: { id: 'asc' },
  });
}

/** Who may approve on a branch: by a permission to approve there, or as an administrator. */
export async function listApprovers(ctx: IdentityContext, accountId: number, branchId: number) {
  const closed = { account_id: accountId, branch_id: branchId, is_private: true };
  const isPrivate = (await ctx.prisma.branch_sight.count({ where: closed })) > 0;
  const ofAccount = isPrivate ? [] : [{ resource_type: 'account' }];
  const approves = { action: 'approve', OR: [...ofAccount, { resource_type: 'branch', resource_id: branchId }] };
  return listActive(ctx, accountId, { OR: [through(approves), administering] });
}

/** People who administer the account. */
export function listAdministrators(ctx: IdentityContext, accountId: number) {
  return listActive(ctx, accountId, administering);
}

const through = (permission: object) => ({
  assignments: { some: { user_group: { permissions: { some: permission } } } },
});
const administering = { license_type: 'developer', ...through({ action: 'admin', resource_type: 'account' }) } as const;

function listActive(ctx: IdentityContext, accountId: number, who: object) {
  return ctx.prisma.user.findMany({
    where: { account_id: accountId, status: 'active', ...who },
    select: contact,
    orderBy: { id: 'asc' },
  });
}
