// One person for each kind of the rights table, in the groups that the system made, with a token of
// the authorization code flow.
import { type Api, createApi, type Page, poll } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { type Kind, kinds } from '@almanac/testkit/rights/rules';
import { type Account, unique } from '@almanac/testkit/system/builders';

const password = 'correct horse battery staple';

type Group = {
  id: number;
  resource_type: string | null;
  resource_id: number | null;
  permissions: { action: string }[];
};

/** The resources whose groups the people join. */
export type Home = { domainId: number; branchId: number; tableId: number };

/** A client for each kind, in the order of the table, with the ids of the people. */
export type People = { api: Api; id: number | undefined }[];

export async function givenPeople(account: Account, admin: Api, home: Home): Promise<People> {
  const groupOf = await findGroups(admin, account.id, home);
  return Promise.all(
    kinds.map(async (kind: Kind) => {
      if (kind.machine) return { api: await account.machine(), id: undefined };
      return givenPerson(account, admin, kind, kind.place === undefined ? undefined : await groupOf(kind));
    }),
  );
}

/** One person of a kind, in the group. */
async function givenPerson(account: Account, admin: Api, { licence }: Kind, groupId: number | undefined) {
  const email = `person-${unique()}@example.com`;
  const { id } = await admin.post<{ id: number }>('/users', { email, password, license_type: licence });
  if (groupId !== undefined) await admin.post('/user_group_assignments', { user_id: id, user_group_id: groupId });
  const { access_token } = await signInPerson(account.baseUrl, account.application, { email, password });
  return { api: createApi(account.baseUrl, access_token), id };
}

/** Another person of the kind with this title, with a call that removes them from their group. */
export async function givenLeaver(account: Account, admin: Api, home: Home, title: (typeof kinds)[number]['title']) {
  const kind = kinds.find((each) => each.title === title) as Kind;
  const person = await givenPerson(account, admin, kind, await (await findGroups(admin, account.id, home))(kind));
  const { data } = await admin.get<Page<{ id: number }>>(`/user_group_assignments?q=user_id:eq:${person.id}`);
  return { api: person.api, leave: () => admin.delete(`/user_group_assignments/${data[0]?.id}`) };
}

async function findGroups(admin: Api, accountId: number, { domainId, branchId, tableId }: Home) {
  const ids = { account: accountId, domain: domainId, branch: branchId };
  // Groups of a branch follow it by an event.
  const { data } = await poll(
    () => admin.get<Page<Group>>('/user_groups?per_page=1000'),
    (groups) => groups.data.some((group) => group.resource_type === 'branch' && group.resource_id === branchId),
  );
  return async ({ place, action }: Kind): Promise<number> => {
    if (place === 'table_definition') return givenTableGroup(admin, tableId);
    const found = data.find(
      (group) =>
        group.resource_type === place &&
        group.resource_id === ids[place as keyof typeof ids] &&
        group.permissions[0]?.action === action,
    );
    if (!found) throw new Error(`There is no group to ${action} on the ${place}.`);
    return found.id;
  };
}

async function givenTableGroup(admin: Api, tableId: number): Promise<number> {
  const permissions = [{ action: 'view', resource_type: 'table_definition', resource_id: tableId }];
  return (await admin.post<Group>('/user_groups', { name: `One table ${unique()}`, permissions })).id;
}
