// Why a user may do something to a resource, or may not. Metadata knows where a resource is,
// identity who has which right there.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import type { Where } from '@almanac/service-kit/rights/rights';
import { requireBranch } from '../branches/branches.ts';
import type { MetadataContext } from '../context.ts';
import { requireDomain } from '../domains/domains.ts';
import { placeOf } from '../rights/place.ts';
import { requireVisibleDefinition } from '../table-definitions/table-definitions.ts';

export const actions = ['view', 'edit', 'develop', 'admin', 'approve'] as const;
export const resourceTypes = ['account', 'domain', 'branch', 'table_definition'] as const;
export const reasons = ['granted', 'suspended', 'license', 'private_branch', 'no_permission'] as const;

export type Question = {
  user_id?: number | undefined;
  action: (typeof actions)[number];
  resource_type: (typeof resourceTypes)[number];
  resource_id?: number | undefined;
};

/**
 * Explains an action of a user, by default the caller. 404 for a user or resource of another
 * account and for a hidden branch, 403 for a table that the caller doesn't see.
 */
export async function explainPermission(ctx: MetadataContext, call: CallContext, question: Question) {
  const { action, resource_type, user_id = call.userId } = question;
  const { resource_id, where } = await findPlace(ctx, call, question);
  if (user_id === undefined)
    throw new ServiceError('bad_request', {
      code: 'blank',
      message: 'user_id is required: an application has no user.',
      field: 'user_id',
    });
  const answer = await ctx.identity.GetPermissionSources(call, {
    user_id,
    action,
    domain_id: where.domainId,
    branch_id: where.branchId,
    table_definition_id: where.tableDefinitionId,
  });
  const { allowed, sources } = answer;
  const ignored = sources.filter(({ ignored_for }) => ignored_for !== '');
  return {
    user_id,
    action,
    resource_type,
    resource_id,
    allowed,
    reason: allowed
      ? 'granted'
      : answer.status === 'suspended'
        ? 'suspended'
        : (ignored[0]?.ignored_for ?? 'no_permission'),
    through: allowed ? sources.filter(({ ignored_for }) => ignored_for === '').map(toSource) : [],
    ignored: ignored.map(toSource),
    holders: toPeople(answer.holders),
    administrators: toPeople(answer.administrators),
  };
}

type Located = { resource_id: number; where: Where };

async function findPlace(
  ctx: MetadataContext,
  call: CallContext,
  { resource_type, resource_id }: Question,
): Promise<Located> {
  if (resource_type === 'account') {
    if (resource_id !== undefined && resource_id !== call.accountId) throw notFound('Account');
    return { resource_id: call.accountId, where: {} };
  }
  if (resource_id === undefined)
    throw new ServiceError('bad_request', {
      code: 'blank',
      message: `resource_id is required with ${resource_type}.`,
      field: 'resource_id',
    });
  if (resource_type === 'domain') await requireDomain(ctx, call, resource_id);
  else if (resource_type === 'branch') await requireBranch(ctx, call, resource_id);
  else return { resource_id, where: placeOf(await requireVisibleDefinition(ctx, call, resource_id)) };
  return { resource_id, where: resource_type === 'domain' ? { domainId: resource_id } : { branchId: resource_id } };
}

type Source = {
  permission_id: number;
  action: string;
  resource_type: string;
  resource_id: number;
  user_group_id: number;
  user_group_name: string;
};

const toSource = (source: Source) => ({
  user_group: source.user_group_id === 0 ? null : { id: source.user_group_id, name: source.user_group_name },
  action: source.action,
  resource_type: source.resource_type,
  resource_id: source.resource_id,
});

type Holders = { users: { id: number; first_name: string; last_name: string }[]; total: number } | null;

const toPeople = (holders: Holders) => ({
  people: (holders?.users ?? []).map(({ id, first_name, last_name }) => ({
    id,
    name: `${first_name} ${last_name}`.trim(),
  })),
  total_count: holders?.total ?? 0,
});
