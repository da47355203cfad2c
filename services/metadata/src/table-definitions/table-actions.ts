// What the caller may do with table definitions and the rows of their tables.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { needsBranchAdministrator } from '@almanac/service-kit/rights/protected-branches';
import { allows, reachOf } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../context.ts';
import { type Allowed, administers, findHeld, judge, lacks } from '../rights/allowed-actions.ts';
import { placeOf } from '../rights/place.ts';
import type { TableDefinition } from './table-definitions.ts';

const notDeployed = 'The table is not deployed, so it has no rows.';

/** Judges the actions on definitions that the caller sees. */
export async function judgeTables(
  ctx: MetadataContext,
  call: CallContext,
  definitions: TableDefinition[],
): Promise<Allowed[]> {
  const held = await findHeld(ctx, call);
  const developsBranch = held !== undefined && reachOf(held, 'develop').branchIds.length > 0;
  return definitions.map((definition) => {
    const { branch_id, branch, domain_id, deployed_version, load_type } = definition;
    const where = placeOf(definition);
    const isDeployed = deployed_version !== null;
    const developer = lacks(held, 'develop', where);
    const isGuarded = isDeployed && branch.is_protected && !administers(held, call, branch_id);
    const removing = (act: string) => () =>
      developer ?? (isGuarded ? needsBranchAdministrator(call, act).errors[0] : undefined);
    const copiesSomewhere = held === undefined || developsBranch || allows(held, 'develop', { domainId: domain_id });
    return judge(call, {
      view_rows: {
        scope: 'api:read',
        refuse: () => lacks(held, 'view', where) ?? (isDeployed ? undefined : notDeployed),
      },
      edit_rows: {
        scope: 'api:write',
        refuse: () => {
          const right = lacks(held, 'edit', where);
          if (right !== undefined) return right;
          if (!isDeployed) return notDeployed;
          return load_type === 'source' ? 'The rows of a source table come from imports.' : undefined;
        },
      },
      import_rows: {
        scope: 'api:write',
        refuse: () => lacks(held, 'edit', where) ?? (isDeployed ? undefined : notDeployed),
      },
      update: { scope: 'api:write', refuse: () => developer },
      deploy: { scope: 'api:write', needsUser: call.branching, refuse: () => developer },
      clone: {
        scope: 'api:write',
        needsUser: true,
        refuse: () => (copiesSomewhere ? undefined : lacks(held, 'develop', { domainId: domain_id })),
      },
      remove: { scope: 'api:write', refuse: removing('remove a deployed table') },
      delete: { scope: 'api:delete', refuse: removing('delete the definition of a deployed table') },
    });
  });
}
