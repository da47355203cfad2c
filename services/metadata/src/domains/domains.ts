// Domains: the subjects by which tables are grouped (design 3.3).

import { descriptionSchema } from '@almanac/service-kit/api/input';
import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import { normalizeName, visibleNameSchema } from '@almanac/service-kit/api/names';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { createdAct, deletedAct, updatedAct } from '@almanac/service-kit/messaging/audit';
import { atMost, rule } from '@almanac/service-kit/problems';
import { requireRight } from '@almanac/service-kit/rights/rights';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { ensureResourceGroups, listResourceGroups, type ResourceGroup } from '../groups/resource-groups.ts';
import { transactOnce } from '../requests/idempotency.ts';
import {
  announce,
  lockRow,
  mapUniqueViolation,
  nameTaken,
  recordAct,
  type Transaction,
  transact,
} from '../transaction.ts';

const domainFields = {
  id: true,
  name: true,
  abbreviation: true,
  description: true,
  created_at: true,
  updated_at: true,
} as const satisfies Prisma.domainSelect;

export type Domain = Prisma.domainGetPayload<{ select: typeof domainFields }>;

/** The fields of a domain in answers of other resources. */
export const domainReferenceFields = {
  id: true,
  name: true,
  abbreviation: true,
} as const satisfies Prisma.domainSelect;

export const domainFilters = {
  id: 'integer',
  name: 'text',
  abbreviation: 'text?',
  description: 'text?',
  created_at: 'time',
  updated_at: 'time',
} as const;

const abbreviationSchema = z
  .string()
  .refine((text) => [...text].length <= 4, atMost(4))
  .refine((text) => /^[\p{L}_]/u.test(text), rule('wrong_format', 'must start with a letter or _'))
  .nullable();

export const domainAttributes = {
  name: visibleNameSchema,
  abbreviation: abbreviationSchema.optional(),
  description: descriptionSchema.optional(),
};
type Attributes = z.infer<z.ZodObject<typeof domainAttributes>>;

/** Lists the domains of the account. */
export async function listDomains(ctx: MetadataContext, call: CallContext, list: ListQuery): Promise<Page<Domain>> {
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions) };
  const [data, total] = await Promise.all([
    ctx.prisma.domain.findMany({ where, select: domainFields, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.domain.count({ where }),
  ]);
  return page(data, list, total);
}

/** One domain with its groups and their members. */
export async function getDomain(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
): Promise<Domain & { user_groups: ResourceGroup[] }> {
  const domain = await requireDomain(ctx, call, id);
  return { ...domain, user_groups: await listResourceGroups(ctx, call, [{ type: 'domain', id }]) };
}

/** A domain of the account, or 404. */
export async function requireDomain(ctx: MetadataContext, call: CallContext, id: number): Promise<Domain> {
  const domain = await ctx.prisma.domain.findFirst({ where: { id, account_id: call.accountId }, select: domainFields });
  if (!domain) throw notFound('Domain');
  return domain;
}

/** Creates a domain with its groups. */
export async function createDomain(ctx: MetadataContext, call: CallContext, read: () => Attributes): Promise<Domain> {
  await requireRight(ctx.rights, call, 'admin', {});
  const attributes = read();
  const create = async (tx: Transaction) => {
    const data = {
      account_id: call.accountId,
      creator_id: call.userId ?? null,
      name_key: normalizeName(attributes.name),
      ...attributes,
    };
    const created = await tx.domain.create({ data, select: domainFields });
    await announceDomain(tx, call, 'created', created);
    await recordAct(tx, call, createdAct('domain', created));
    return created;
  };
  const domain = await mapUniqueViolation(nameTaken, () => transactOnce(ctx, call, create, ({ id }) => id));
  await ensureResourceGroups(ctx, call, { type: 'domain', id: domain.id, name: domain.name, creatorId: call.userId });
  return domain;
}

/** Changes a domain; a new name renames its groups. */
export async function updateDomain(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  read: () => Partial<Attributes>,
): Promise<Domain> {
  const { name } = await requireDomain(ctx, call, id);
  await requireRight(ctx.rights, call, 'admin', {});
  const attributes = read();
  const domain = await mapUniqueViolation(nameTaken, () =>
    transact(ctx, async (tx) => {
      if (!(await lockRow(tx, 'domain', call.accountId, id))) throw notFound('Domain');
      const before = await tx.domain.findUniqueOrThrow({ where: { id }, select: domainFields });
      const renamed = attributes.name === undefined ? {} : { name_key: normalizeName(attributes.name) };
      const data = { ...attributes, ...renamed };
      const updated = await tx.domain.update({ where: { id }, data, select: domainFields });
      await announceDomain(tx, call, 'updated', updated);
      await recordAct(tx, call, updatedAct('domain', before, updated));
      return updated;
    }),
  );
  if (domain.name !== name) await ensureResourceGroups(ctx, call, { type: 'domain', id, name: domain.name });
  return domain;
}

/** Deletes a domain without tables. */
export async function deleteDomain(ctx: MetadataContext, call: CallContext, id: number): Promise<void> {
  await requireDomain(ctx, call, id);
  await requireRight(ctx.rights, call, 'admin', {});
  await transact(ctx, async (tx) => {
    if (!(await lockRow(tx, 'domain', call.accountId, id, 'remove'))) throw notFound('Domain');
    const held = { where: { domain_id: id, account_id: call.accountId }, select: { name: true }, take: 10 };
    const drafts = await tx.table_definition.findMany(held);
    const deployed = await tx.deployed_table_definition.findMany(held);
    const names = [...new Set([...drafts, ...deployed].map(({ name }) => name))];
    if (names.length > 0)
      throw validationFailed({
        code: 'still_referenced',
        message: `Domain still has table definitions: ${names.join(', ')}`,
        params: { table_definitions: names },
      });
    await refuseWhileDeploying(tx, call, id);
    const deleted = await tx.domain.delete({ where: { id }, select: domainFields });
    await announce(tx, call, 'domain.deleted', { domain_id: id, name: deleted.name, creator_id: null });
    await recordAct(tx, call, deletedAct('domain', deleted));
  });
}

// A running deployment deploys its tables into the domain that they had when it began.
async function refuseWhileDeploying(tx: Transaction, call: CallContext, id: number): Promise<void> {
  const wanted = JSON.stringify([{ domain_id: id }]);
  const running = await tx.$queryRaw<{ id: number }[]>`
    select id from deployment
    where account_id = ${call.accountId} and status = 'deploying' and wanted @> ${wanted}::jsonb limit 1`;
  if (running[0])
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `Deployment ${running[0].id} is applying a table of this domain; wait for its end.`,
      params: { deployment_id: running[0].id },
    });
}

async function announceDomain(
  tx: Transaction,
  call: CallContext,
  event: 'created' | 'updated',
  domain: Domain,
): Promise<void> {
  await announce(tx, call, `domain.${event}`, {
    domain_id: domain.id,
    name: domain.name,
    creator_id: event === 'created' ? (call.userId ?? null) : null,
  });
}
