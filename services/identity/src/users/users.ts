// Users of an account: created by administrators, invited by mail, deleted with their tokens. A
// service user is one without address and password, for programs (refresh-tokens.ts).

import { randomUUID } from 'node:crypto';
import { humanize } from '@almanac/service-kit/api/input';
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
import type { Problem } from '@almanac/service-kit/problems';
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
import { endSessions } from '../sessions/end-sessions.ts';
import { revokeSubject } from '../tokens/revocations.ts';
import { announce, mapUniqueViolation, type Transaction, transact } from '../transaction.ts';

const emailTaken: Problem = { code: 'taken', message: 'Email has already been taken', field: 'email' };

export const userTypes = ['person', 'service'] as const;
export const licenseTypes = ['developer', 'end_user'] as const;

/** Statuses that an administrator may set; `invited` follows from the lack of a password. */
export const settableStatuses = ['active', 'suspended'] as const;

export const userFields = {
  id: 'integer',
  first_name: 'text',
  last_name: 'text',
  email: 'text',
  user_type: 'text',
  license_type: 'text',
  status: 'text',
  created_at: 'time',
  updated_at: 'time',
} as const satisfies Fields;

/** The public columns of a user: all but the password's hash. */
export const userColumns = {
  id: true,
  first_name: true,
  last_name: true,
  email: true,
  user_type: true,
  license_type: true,
  status: true,
  created_at: true,
  updated_at: true,
} as const;

/** Users of the account, for administrators. */
export async function listUsers(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  await requireAdministrator(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions) };
  const [data, count] = await Promise.all([
    ctx.prisma.user.findMany({ where, select: userColumns, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.user.count({ where }),
  ]);
  return page(data, list, count);
}

/** One user with their groups. */
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
  // Prisma reads relations one after another, so a concurrently deleted group is missing despite
  // the type.
  return { ...own, user_groups: assignments.flatMap(({ user_group }) => user_group ?? []) };
}

type NewUser = {
  user_type?: (typeof userTypes)[number];
  email?: string;
  first_name?: string;
  last_name?: string;
  license_type?: (typeof licenseTypes)[number];
  password?: string;
};

/**
 * Creates a user: active when the administrator gives a password, otherwise invited by mail. A
 * service user is active without either.
 */
export async function createUser(ctx: IdentityContext, call: CallContext, read: () => NewUser) {
  await requireAdministrator(ctx, call);
  const { user_type = 'person', email = '', password, ...attributes } = read();
  if (user_type === 'service') requireServiceAttributes({ first_name: '', ...attributes, email, password });
  else if (email === '') throw validationFailed({ code: 'blank', message: "Email can't be blank", field: 'email' });
  const answer = await findKeptAnswer(ctx, call);
  if (answer) return answer;
  const kind =
    user_type === 'service'
      ? { email_key: `service ${randomUUID()}`, status: 'active' }
      : { email_key: emailKey(email), ...(await hashCredentials(ctx, password)) };
  return mapUniqueViolation(emailTaken, () =>
    transactOnce(ctx, call, async (tx) => {
      const user = await tx.user.create({
        data: { ...attributes, ...kind, user_type, email, account_id: call.accountId },
        select: userColumns,
      });
      await recordAct(tx, call, createdAct('user', user));
      if (user.status === 'invited') await invite(ctx, tx, call, user);
      return user;
    }),
  );
}

/**
 * Throws 422 for attributes that a service user can't have: it gets no mail and never logs in, and
 * its first name is what lists and the audit log show.
 */
function requireServiceAttributes(given: { first_name?: string; email?: string; password?: string | undefined }): void {
  const leftOut = (field: string): Problem => ({
    code: 'incompatible',
    message: `${humanize(field)} must be left out for a service user`,
    field,
  });
  const problems: Problem[] = [
    ...(given.first_name?.trim() === ''
      ? [{ code: 'blank' as const, message: "First name can't be blank", field: 'first_name' }]
      : []),
    ...(given.email ? [leftOut('email')] : []),
    ...(given.password !== undefined ? [leftOut('password')] : []),
  ];
  if (problems.length > 0) throw validationFailed(problems);
}

async function invite(ctx: IdentityContext, tx: Transaction, call: CallContext, user: { id: number; email: string }) {
  await throttleInvitation(ctx, tx, { account_id: call.accountId, email: user.email });
  const mail = { account_id: call.accountId, template: 'invitation', user_ids: [user.id] } as const;
  await requestMail(tx, mail, call.requestId);
}

type UserChange = Omit<NewUser, 'user_type'> & { status?: (typeof settableStatuses)[number]; keep_sessions?: boolean };

/**
 * Changes a user. A new password ends their sessions and tokens, unless `keep_sessions` is set, and
 * is reported to them by mail. A suspension ends them, too, without a mail.
 */
export async function updateUser(ctx: IdentityContext, call: CallContext, id: number, read: () => UserChange) {
  const select = { user_type: true } as const;
  const present = await ctx.prisma.user.findFirst({ where: { id, account_id: call.accountId }, select });
  if (!present) throw notFound('User');
  await requireAdministrator(ctx, call);
  const { password, status: wanted, keep_sessions, ...attributes } = read();
  if (present.user_type === 'service') requireServiceAttributes({ ...attributes, password });
  if (keep_sessions !== undefined && password === undefined)
    throw validationFailed({
      code: 'incompatible',
      message: 'Keep sessions needs a password.',
      field: 'keep_sessions',
    });
  if (wanted === 'suspended' && call.userId === id)
    throw validationFailed({ code: 'not_allowed', message: "You can't suspend yourself.", field: 'status' });
  const { password_hash } = await hashCredentials(ctx, password);
  return mapUniqueViolation(emailTaken, () =>
    transact(ctx, async (tx) => {
      await lockAccount(tx, call.accountId);
      const where = { id, account_id: call.accountId };
      const { had_password, ...before } = await lockUser(tx, call.accountId, id);
      const status = nextStatus(before.status, wanted, {
        needsPassword: before.user_type === 'person' && !had_password && password === undefined,
        isNew: password !== undefined,
      });
      const key = attributes.email === undefined ? {} : { email_key: emailKey(attributes.email) };
      const data = { ...attributes, ...key, password_hash, status };
      const user = await tx.user.update({ where, data, select: userColumns });
      await recordAct(tx, call, updatedAct('user', before, user));
      const isSuspended = status === 'suspended' && before.status !== status;
      if (isSuspended) await endAccess(ctx, tx, call, id, 'user_suspended');
      else if (password !== undefined && !keep_sessions) await endAccess(ctx, tx, call, id, 'password_set');
      if (password !== undefined) await notifyPasswordChanged(tx, call, id, !keep_sessions);
      // A mailed link must not undo the change, nor give the account to the reader of the old
      // mailbox.
      if (isSuspended || password !== undefined || user.email !== before.email) await closeLinks(tx, id);
      if (attributes.license_type !== undefined || wanted !== undefined) {
        await requireRemainingAdministrator(tx, call.accountId);
        await announcePermissionChanged(tx, call.accountId, id, call.requestId);
      }
      return user;
    }),
  );
}

type LockedUser = Prisma.userGetPayload<{ select: typeof userColumns }> & { had_password: boolean };

/**
 * Locks a user's row: a concurrent log-in, password link or refresh token runs before or after the
 * whole change.
 */
export async function lockUser(
  tx: Transaction,
  accountId: number,
  id: number,
  missing: () => Error = () => notFound('User'),
): Promise<LockedUser> {
  const [user] = await tx.$queryRaw<LockedUser[]>`
    select id, first_name, last_name, email, user_type, license_type, status, created_at, updated_at,
      password_hash is not null as had_password
    from "user" where id = ${id} and account_id = ${accountId} for no key update`;
  if (!user) throw missing();
  return user;
}

// A person without a password is never active: reactivated, they are invited again. A new password
// alone doesn't lift a suspension.
function nextStatus(
  before: string,
  wanted: (typeof settableStatuses)[number] | undefined,
  { needsPassword, isNew }: { needsPassword: boolean; isNew: boolean },
): string {
  if (wanted === 'suspended' || (wanted === undefined && before === 'suspended')) return 'suspended';
  if (wanted === undefined) return isNew ? 'active' : before;
  if (!needsPassword) return 'active';
  if (before !== 'suspended')
    throw validationFailed({
      code: 'wrong_state',
      message: 'An invited user becomes active by a password.',
      field: 'status',
    });
  return 'invited';
}

// Sessions first: a consent locks its session's row, so `revokeFamilies` finds the code it has
// created.
async function endAccess(
  ctx: IdentityContext,
  tx: Transaction,
  call: CallContext,
  id: number,
  reason: 'user_suspended' | 'password_set',
): Promise<void> {
  await endSessions(tx, { user_id: id }, call.requestId);
  await revokeFamilies(ctx, tx, { user_id: id }, reason, call.requestId);
}

async function notifyPasswordChanged(
  tx: Transaction,
  call: CallContext,
  id: number,
  endedTokens: boolean,
): Promise<void> {
  const after = { by: 'administrator', ended_tokens: endedTokens };
  await recordAct(tx, call, { action: 'password.changed', resource_type: 'user', resource_id: id, after });
  const mail = { account_id: call.accountId, template: 'password_changed', user_ids: [id] } as const;
  await requestMail(tx, mail, call.requestId);
}

/** Deletes a user with their tokens, sessions and memberships. */
export async function deleteUser(ctx: IdentityContext, call: CallContext, id: number): Promise<void> {
  const present = await ctx.prisma.user.findFirst({ where: { id, account_id: call.accountId }, select: { id: true } });
  if (!present) throw notFound('User');
  await requireAdministrator(ctx, call);
  if (call.userId === id) throw validationFailed({ code: 'not_allowed', message: "You can't delete yourself." });
  await transact(ctx, async (tx) => {
    await lockAccount(tx, call.accountId);
    const where = { id, account_id: call.accountId };
    const select = { ...userColumns, assignments: { select: { user_group_id: true } } };
    const user = await tx.user.findFirst({ where, select });
    if (!user) throw notFound('User');
    await tx.user.delete({ where });
    await requireRemainingAdministrator(tx, call.accountId);
    const { assignments, ...attributes } = user;
    const user_group_ids = assignments.map(({ user_group_id }) => user_group_id);
    await recordAct(tx, call, deletedAct('user', { ...attributes, user_group_ids }));
    const subject = { account_id: call.accountId, kind: 'user', subject: String(id), reason: 'user_deleted' } as const;
    await revokeSubject(tx, ctx.config, subject, call.requestId);
    await announce(tx, call, 'user.deleted', { user_id: id });
    await announcePermissionChanged(tx, call.accountId, id, call.requestId);
  });
}

// Runs before the transaction, since hashing is slow on purpose.
async function hashCredentials(ctx: IdentityContext, password: string | undefined) {
  if (password === undefined) return { password_hash: undefined };
  return { password_hash: await ctx.passwords.hash(password), status: 'active' };
}
