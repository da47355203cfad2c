// Every account keeps an administrator who can log in: whoever changes people, groups or assignments does it between these two.
import { validationFailed } from '@almanac/service-kit/errors';
import type { Transaction } from './database.ts';

/** Lets one such change of an account happen at a time, so that two can't each remove the other's last administrator. */
export async function lockAccount(tx: Transaction, accountId: number): Promise<void> {
  await tx.db.$queryRaw`select id from account where id = ${accountId} for no key update`;
}

/** Throws 422 (and so undoes the change) when nobody is left who administers the account. */
export async function keepAnAdministrator(tx: Transaction, accountId: number): Promise<void> {
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
