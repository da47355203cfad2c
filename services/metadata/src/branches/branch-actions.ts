// What the caller may do with branches.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { needsBranchAdministrator } from '@almanac/service-kit/rights/protected-branches';
import { allows, isKnown, reachOf } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../context.ts';
import { type Allowed, administers, findHeld, judge, lacks } from '../rights/allowed-actions.ts';
import type { Branch } from './branches.ts';

/** Judges the actions on branches that the caller sees. */
export async function judgeBranches(ctx: MetadataContext, call: CallContext, branches: Branch[]): Promise<Allowed[]> {
  const held = await findHeld(ctx, call);
  // A table may be drafted by the right in its domain, but for private branches.
  const inSomeDomain = held !== undefined && reachOf(held, 'develop').domainIds.length > 0;
  return branches.map((branch) => {
    const where = { branchId: branch.id };
    const developer = lacks(held, 'develop', where);
    const isOwner = held !== undefined && call.userId === branch.owner_id && allows(held, 'develop', where);
    const isClosed = held?.closedBranches.has(branch.id) ?? false;
    const admin = () => lacks(held, 'admin', where);
    const isGuarded = branch.is_protected && !administers(held, call, branch.id);
    return judge(call, {
      update: { scope: 'api:write', refuse: () => developer },
      protect: { scope: 'api:admin', refuse: () => developer ?? admin() },
      change_type: {
        scope: isOwner ? 'api:write' : 'api:admin',
        refuse: () =>
          branch.is_default
            ? `Branch type of ${branch.name} can't be private`
            : (developer ?? (isOwner ? undefined : admin())),
      },
      delete: {
        scope: 'api:delete',
        refuse: () => {
          const right = isOwner ? undefined : admin();
          if (right !== undefined) return right;
          if (isGuarded) return needsBranchAdministrator(call, 'delete what is deployed').errors[0];
          return branch.is_default ? `The branch ${branch.name} can't be deleted` : undefined;
        },
      },
      create_table: {
        scope: 'api:write',
        refuse: () => (inSomeDomain && !isClosed && isKnown(held, where) ? undefined : developer),
      },
    });
  });
}
