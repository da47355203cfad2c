// The people of the demo besides its administrator: a steward who proposes changes, and an approver
// who decides about them. Each works by the rights of one group.
import type { Api, Page } from '@almanac/api-client/api';
import type { Person } from '@almanac/api-client/sign-in';
import { domain } from './iso-data.ts';

/** People of the demo, by what they do. */
export type DemoPeople = { steward: Person; approver: Person };

type Role = keyof DemoPeople;
type Found = { id: number };
type Grant = { action: string; resource_type: string; resource_id: number };

const names: Record<Role, { first_name: string; last_name: string }> = {
  steward: { first_name: 'Nora', last_name: 'Lindqvist' },
  approver: { first_name: 'Ravi', last_name: 'Menon' },
};

/**
 * Creates the people and their groups. Repeatable: what exists already is left as it is. `api`: the
 * administrator's.
 */
export async function ensureDemoPeople(api: Api, people: DemoPeople): Promise<void> {
  const [{ id: domainId }, { id: branchId }] = await Promise.all([
    findOne(api, `/domains?q=name:eq:${encodeURIComponent(domain.name)}`),
    findOne(api, '/branches?q=is_default:eq:true'),
  ]);
  const onDomain = (action: string): Grant => ({ action, resource_type: 'domain', resource_id: domainId });
  const groups: { role: Role; name: string; description: string; permissions: Grant[] }[] = [
    {
      role: 'steward',
      name: 'ISO stewards',
      description: 'Edit the code lists of ISO, and propose changes of them',
      permissions: [onDomain('view'), onDomain('edit')],
    },
    {
      role: 'approver',
      name: 'ISO approvers',
      description: 'Decide about proposed changes on main',
      permissions: [onDomain('view'), { action: 'approve', resource_type: 'branch', resource_id: branchId }],
    },
  ];
  await Promise.all(
    groups.map(async ({ role, ...user_group }) => {
      const [userId, groupId] = await Promise.all([
        ensure(
          api,
          '/users',
          { q: `email:eq:${people[role].email}` },
          {
            user: { ...people[role], ...names[role], license_type: 'end_user' },
          },
        ),
        ensure(api, '/user_groups', { q: `name:eq:${user_group.name}` }, { user_group }),
      ]);
      const user_group_id = String(groupId);
      await ensure(api, '/user_group_assignments', { user_group_id }, { user_id: userId, user_group_id: groupId });
    }),
  );
}

async function findOne(api: Api, path: string): Promise<Found> {
  const { data } = await api.get<Page<Found>>(path);
  const [found] = data;
  if (!found) throw new Error(`GET ${path} answered nothing.`);
  return found;
}

/** Returns the id of what the filter finds, or of what is created. */
async function ensure(api: Api, path: string, filter: Record<string, string>, wanted: object): Promise<number> {
  const { data } = await api.get<Page<Found>>(`${path}?${new URLSearchParams(filter)}`);
  return (data[0] ?? (await api.post<Found>(path, wanted))).id;
}
