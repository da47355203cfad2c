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
import { findSqlState } from '@almanac/service-kit/postgres/errors';
import { recordAct } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { findKeptAnswer, transactOnce } from '../idempotency.ts';
import { emailKey } from '../mails/email-address.ts';
import { throttleInvitation } from '../mails/invitation-throttle.ts';
import { requestMail } from '../mails/mail-requests.ts';
import { revokeFamilies } from '../oauth/token-families.ts';
import { closeLinks } from '../passwords/password-links.ts';
import { lockAccount, requireRemainingAdministrator } from '../permissions/administrators.ts';
import { announcePermissionChanged, requireAdministrator } from '../permissions/effective-permissions.ts';
import { revokeSubject } from '../tokens/revocations.ts';
import { type Transaction, transact } from '../transaction.ts';

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
export const userColumns = {
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
    ctx.prisma.user.findMany({ where, select: userColumns, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.user.count({ where }),
  ]);
  return page(data, list, count);
}

/** One person with the groups he is in. */
export async function getUser(ctx: IdentityContext, call: CallContext, id: number) {
  const user = await ctx.prisma.user.findFirst({
    where: { id, account_id: call.accountId },
    select: {
      ...userColumns,
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
  const kept = await findKeptAnswer(ctx, call);
  if (kept) return kept;
  const access = await accessOf(ctx, password);
  return withUniqueEmail(() =>
    transactOnce(ctx, call, async (tx) => {
      const user = await tx.db.user.create({
        data: { ...attributes, ...access, account_id: call.accountId, email_key: emailKey(attributes.email) },
        select: userColumns,
      });
      await recordAct(tx.db, call, createdAct('user', user));
      if (password === undefined) await invite(ctx, tx, call, user);
      return user;
    }),
  );
}

async function invite(ctx: IdentityContext, tx: Transaction, call: CallContext, user: { id: number; email: string }) {
  await throttleInvitation(ctx, tx, { account_id: call.accountId, email: user.email });
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
      const { had_password, ...before } = await lockUser(tx, call.accountId, id);
      const status = nextStatus(before.status, wanted, {
        hasPassword: had_password || password !== undefined,
        isGiven: password !== undefined,
      });
      const key = attributes.email === undefined ? {} : { email_key: emailKey(attributes.email) };
      const data = { ...attributes, ...key, password_hash, status };
      const user = await tx.db.user.update({ where, data, select: userColumns });
      await recordAct(tx.db, call, updatedAct('user', before, user));
      const isSuspended = status === 'suspended' && before.status !== status;
      if (isSuspended) await endAccess(ctx, tx, call, id, 'user_suspended');
      else if (password !== undefined && !keep_sessions) await endAccess(ctx, tx, call, id, 'password_set');
      if (password !== undefined) await notifyPasswordChanged(tx, call, id, !keep_sessions);
      // A link on its way to the old mailbox must not undo what was changed, nor open the account to whoever reads there.
      if (isSuspended || password !== undefined || user.email !== before.email) await closeLinks(tx.db, id);
      if (attributes.license_type !== undefined || wanted !== undefined) {
        await requireRemainingAdministrator(tx, call.accountId);
        await announcePermissionChanged(tx, call.accountId, id, call.requestId);
      }
      return user;
    }),
  );
}

type Held = Prisma.userGetPayload<{ select: typeof userColumns }> & { had_password: boolean };

// The row is held: a link that makes the user active, or a log-in, comes before all of the change or after it.
async function lockUser(tx: Transaction, accountId: number, id: number): Promise<Held> {
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

async function notifyPasswordChanged(
  tx: Transaction,
  call: CallContext,
  id: number,
  endedTokens: boolean,
): Promise<void> {
  const after = { by: 'administrator', ended_tokens: endedTokens };
  await recordAct(tx.db, call, { action: 'password.changed', resource_type: 'user', resource_id: id, after });
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
    const select = { ...userColumns, assignments: { select: { user_group_id: true } } };
    const gone = await tx.db.user.findFirst({ where, select });
    if (!gone) throw notFound('User');
    await tx.db.user.delete({ where });
    await requireRemainingAdministrator(tx, call.accountId);
    const { assignments, ...attributes } = gone;
    const user_group_ids = assignments.map(({ user_group_id }) => user_group_id);
    await recordAct(tx.db, call, deletedAct('user', { ...attributes, user_group_ids }));
    const subject = { account_id: call.accountId, kind: 'user', subject: String(id), reason: 'user_deleted' } as const;
    await revokeSubject(tx, ctx.config, subject, call.requestId);
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
    if (findSqlState(error) === '23505') throw validationFailed('Email has already been taken');
    throw error;
  }
}
