// The people of an account as every user of it may see them: who is behind an id. Without mail
// addresses, licences and groups, which are for administrators (users.ts).
import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { IdentityContext } from '../context.ts';
import { initialsOf } from './person-name.ts';

export const personFields = { id: 'integer', name: 'text', user_type: 'text' } as const satisfies Fields;

const personColumns = {
  id: true,
  name: true,
  first_name: true,
  last_name: true,
  user_type: true,
  status: true,
} as const;

export type PeopleFilter = { ids?: number[] | undefined; active?: boolean | undefined };

/** Users of the account, suspended ones and service users included; unknown ids are left out. */
export async function listPeople(
  ctx: IdentityContext,
  call: CallContext,
  list: ListQuery,
  { ids, active }: PeopleFilter,
) {
  const where = {
    account_id: call.accountId,
    ...(ids && { id: { in: ids } }),
    ...(active !== undefined && { status: active ? 'active' : { not: 'active' } }),
    ...prismaWhere(list.conditions),
  };
  const [data, count] = await Promise.all([
    ctx.prisma.user.findMany({ where, select: personColumns, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.user.count({ where }),
  ]);
  return page(data.map(toPerson), list, count);
}

type StoredPerson = {
  id: number;
  name: string | null;
  first_name: string;
  last_name: string;
  user_type: string;
  status: string;
};

/** A user as others see them. */
export function toPerson({ id, name, user_type, status, ...names }: StoredPerson) {
  return { id, name: name ?? '', initials: initialsOf(names), user_type, active: status === 'active' };
}
