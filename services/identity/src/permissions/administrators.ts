// Every account keeps an administrator who can log in, and who that is isn't decided by any token that may write.
import { type CallContext, requireScope } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import type { Transaction } from '../transaction.ts';

/**
 * Lets one change of an account's people, groups or assignments happen at a time, so that two can't each remove the other's last
 * administrator; `keepAnAdministrator` ends each of them.
 */
export async function lockAccount(tx: Transaction, accountId: number): Promise<void> {
  await tx.db.$queryRaw`select id from account where id = ${accountId} for no key update`;
}

/** Throws 422 (and so undoes the change) when nobody is left who administers the account. */
export async function requireRemainingAdministrator(tx: Transaction, accountId: number): Promise<void> {
  const [row] = await tx.db.$queryRaw<{ present: boolean }[]>`
    select exists (
      select from "user" u
      join user_group_assignment a on a.user_id = u.id
      join permission p on p.user_group_id = a.user_group_id
      where u.account_id = ${accountId} and u.status = 'active' and u.license_type = 'developer'
        and p.account_id = ${accountId} and p.action = 'admin' and p.resource_type = 'account'
    ) as present`;
  if (!row?.present) throw validationFailed('The account must keep at least one administrator.');
}

/**
 * Throws 403 unless the token may administer, where members of the group may what no application may without that scope: administer
 * or approve, wherever it is (ADR 23).
 */
export async function requireScopeToAppoint(tx: Transaction, call: CallContext, groupId: number): Promise<void> {
  const decides = { account_id: call.accountId, user_group_id: groupId, action: { in: ['admin', 'approve'] } };
  if ((await tx.db.permission.count({ where: decides })) > 0) requireScope(call, 'api:admin');
}
