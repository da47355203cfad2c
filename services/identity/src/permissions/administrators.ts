// Every account keeps an administrator who can log in (a service user can't), and only tokens with
// the scope api:admin appoint administrators and approvers.
import { type CallContext, requireScope } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import type { Transaction } from '../transaction.ts';

/**
 * Serialises changes of an account's users, groups and assignments, so that two concurrent changes
 * can't remove each other's last administrator. Each of them ends with
 * `requireRemainingAdministrator`.
 */
export async function lockAccount(tx: Transaction, accountId: number): Promise<void> {
  await tx.$queryRaw`select id from account where id = ${accountId} for no key update`;
}

/** Throws 422, which rolls the change back, when no person administers the account any more. */
export async function requireRemainingAdministrator(tx: Transaction, accountId: number): Promise<void> {
  const [row] = await tx.$queryRaw<{ present: boolean }[]>`
    select exists (
      select from "user" u
      join user_group_assignment a on a.user_id = u.id
      join permission p on p.user_group_id = a.user_group_id
      where u.account_id = ${accountId} and u.user_type = 'person' and u.status = 'active' and u.license_type = 'developer'
        and p.account_id = ${accountId} and p.action = 'admin' and p.resource_type = 'account'
    ) as present`;
  if (!row?.present)
    throw validationFailed({ code: 'not_allowed', message: 'The account must keep at least one administrator.' });
}

/**
 * Throws 403 when the group may administer or approve anywhere and the token lacks the scope
 * api:admin (ADR 23).
 */
export async function requireScopeToAppoint(tx: Transaction, call: CallContext, groupId: number): Promise<void> {
  const where = { account_id: call.accountId, user_group_id: groupId, action: { in: ['admin', 'approve'] } };
  if ((await tx.permission.count({ where })) > 0) requireScope(call, 'api:admin');
}
