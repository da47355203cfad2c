// Why a user may do something at a place, or may not: the permissions that give it, those that
// would but don't count, and who else could do it.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import {
  type Action,
  actionsCovering,
  allows,
  compileRights,
  type EffectivePermissions,
  type Permission,
  type Where,
} from '@almanac/service-kit/rights/rights';
import type { IdentityContext } from '../context.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { listHiddenBranches } from './branch-visibility.ts';
import { getEffectivePermissions } from './effective-permissions.ts';
import { actions } from './permissions.ts';

/** The number of sources, and of names of each list, in one answer. */
const maxListed = 20;

type Request = {
  user_id: number;
  action: string;
  domain_id: number;
  branch_id: number;
  table_definition_id: number;
};

/** Explains an action of a user at a place. A user of another account is not found. */
export async function getPermissionSources(ctx: IdentityContext, call: CallContext, request: Request) {
  const action = actions.find((each) => each === request.action);
  if (!action) throw new ServiceError('bad_request', { code: 'not_in_list', message: 'There is no such right.' });
  const { accountId } = call;
  const user = await ctx.prisma.user.findFirst({
    where: { id: request.user_id, account_id: accountId },
    select: { id: true, status: true, license_type: true },
  });
  if (!user) throw notFound('User');
  const hidden = await listHiddenBranches(ctx, call);
  const at: Place = { account_id: accountId, ...request };
  const [held, candidates, holders, administrators] = await Promise.all([
    user.status === 'suspended' ? nothing(user) : getEffectivePermissions(ctx.prisma, accountId, user.id),
    listCandidates(ctx.prisma, at, user.id),
    listHolders(ctx.prisma, at, action, { shownBranchId: hidden.includes(at.branch_id) ? 0 : at.branch_id }),
    listHolders(ctx.prisma, { account_id: accountId, ...nowhere }, 'admin', { userType: 'person' }),
  ]);
  const where = whereOf(request);
  const rights = compileRights(held);
  const closed = [...rights.closedBranches];
  const sources = candidates
    .filter(({ resource_type, resource_id }) => resource_type !== 'branch' || !hidden.includes(resource_id))
    .flatMap((candidate) => toSource(candidate, user.license_type, closed, action, where));
  return {
    allowed: allows(rights, action, where),
    status: user.status,
    license_type: user.license_type,
    sources: sources.slice(0, maxListed),
    holders,
    administrators,
  };
}

const nowhere = { domain_id: 0, branch_id: 0, table_definition_id: 0 } as const;
const nothing = ({ license_type }: { license_type: string }): EffectivePermissions => ({
  license_type,
  permissions: [],
});

const whereOf = ({ domain_id, branch_id, table_definition_id }: Request): Where => ({
  ...(domain_id > 0 && { domainId: domain_id }),
  ...(branch_id > 0 && { branchId: branch_id }),
  ...(table_definition_id > 0 && { tableDefinitionId: table_definition_id }),
});

type Candidate = Permission & { permission_id: number; user_group_id: number; user_group_name: string };
type Ignored = '' | 'license' | 'private_branch';

// Compiles the permission alone, so that the same rules decide here as in every check.
function toSource(
  candidate: Candidate,
  license_type: string,
  private_branch_ids: number[],
  action: Action,
  where: Where,
): (Candidate & { ignored_for: Ignored })[] {
  const gives = (given: Partial<EffectivePermissions>) =>
    allows(compileRights({ license_type, permissions: [candidate], private_branch_ids, ...given }), action, where);
  if (gives({})) return [{ ...candidate, ignored_for: '' }];
  if (gives({ license_type: 'developer' })) return [{ ...candidate, ignored_for: 'license' }];
  if (gives({ private_branch_ids: [] })) return [{ ...candidate, ignored_for: 'private_branch' }];
  return [];
}

type Place = Omit<Request, 'user_id' | 'action'> & { account_id: number };

/** The user's permissions at the place, whatever they give; those of the widest places first. */
function listCandidates(prisma: PrismaClient, at: Place, userId: number): Promise<Candidate[]> {
  return prisma.$queryRaw<Candidate[]>`
    select p.id as permission_id, p.action, p.resource_type, p.resource_id,
      g.id as user_group_id, g.name as user_group_name
    from user_group_assignment a
    join user_group g on g.id = a.user_group_id
    join permission p on p.user_group_id = g.id and p.account_id = a.account_id
    where a.account_id = ${at.account_id} and a.user_id = ${userId} and (
      p.resource_type = 'account'
      or p.resource_type = 'domain' and p.resource_id = ${at.domain_id}
      or p.resource_type = 'branch' and p.resource_id = ${at.branch_id}
      or p.resource_type = 'table_definition' and p.resource_id = ${at.table_definition_id})
    union all
    select 0, 'view', 'branch', b.branch_id, 0, ''
    from branch_sight b
    where b.account_id = ${at.account_id} and b.branch_id = ${at.branch_id} and b.is_private and b.owner_id = ${userId}
    order by 3, 1
    limit 1000`;
}

type Holder = { id: number; first_name: string; last_name: string; total: number };

/**
 * Active users who may do it at the place, by the rules of service-kit's rights.ts as one statement
 * over sets; a property test compares the two.
 */
async function listHolders(
  prisma: PrismaClient,
  at: Place,
  action: Action,
  { shownBranchId = 0, userType }: { shownBranchId?: number; userType?: string },
) {
  const { all, asEndUser } = actionsCovering(action);
  const rows = await prisma.$queryRaw<Holder[]>`
    with place as (
      select exists (select from branch_sight b where b.account_id = ${at.account_id} and b.branch_id = ${at.branch_id}
        and b.is_private) as is_private
    ), granted as (
      select a.user_id from user_group_assignment a
      join "user" u on u.id = a.user_id
      join permission p on p.user_group_id = a.user_group_id and p.account_id = a.account_id, place
      where a.account_id = ${at.account_id} and (
        p.action = any(case u.license_type when 'end_user' then ${asEndUser}::text[] else ${all}::text[] end)
          and (
            p.resource_type = 'account' and not place.is_private
            or p.resource_type = 'domain' and p.resource_id = ${at.domain_id} and not place.is_private
            or p.resource_type = 'branch' and p.resource_id = ${shownBranchId}
            or p.resource_type = 'table_definition' and p.resource_id = ${at.table_definition_id})
        or p.action = 'admin' and p.resource_type = 'account' and u.license_type <> 'end_user')
      union
      select b.owner_id from branch_sight b
      where b.account_id = ${at.account_id} and b.branch_id = ${shownBranchId} and b.is_private and ${action}::text = 'view'
    )
    select u.id, u.first_name, u.last_name, count(*) over ()::int as total
    from "user" u join granted on granted.user_id = u.id
    where u.account_id = ${at.account_id} and u.status = 'active' and u.user_type = coalesce(${userType ?? null}::text, u.user_type)
    order by u.id
    limit ${maxListed}`;
  return {
    users: rows.map(({ total: _total, ...user }) => ({ ...user, email: '', status: 'active' })),
    total: rows[0]?.total ?? 0,
  };
}
