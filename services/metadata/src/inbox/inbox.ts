// The inbox of a user: changes that wait for their approval, and their own that came back, failed
// or can be applied. One statement over all kinds of changes.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { isKnown, reachOf } from '@almanac/service-kit/rights/rights';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';

const reasons = ['approval', 'changes_requested', 'approved', 'failed'] as const;

export const inboxItemSchema = z
  .object({
    kind: z.enum(['change_request', 'deployment', 'promotion']),
    id: z.int(),
    reason: z.enum(reasons).meta({
      description:
        '`approval`: another one’s, which waits for an approval; the others: one’s own, by the state that it is in.',
    }),
    title: z.string().nullable().meta({ description: 'Of deployments and promotions the last comment.' }),
    branch_id: z.int(),
    branch_name: z.string(),
    created_by: z.int().nullable(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'InboxItem' });
type InboxItem = Omit<z.infer<typeof inboxItemSchema>, 'updated_at'> & { updated_at: Date };

export const inboxCountsSchema = z
  .object({
    approval: z.int(),
    changes_requested: z.int(),
    approved: z.int(),
    failed: z.int(),
  })
  .meta({ id: 'InboxCounts', description: 'By reason; a thousand stands for more.' });

const maxItems = 100;
const maxCount = 1000;

// $1 account, $2 user, $3 branches where they approve, $4 whether they approve on all but the
// closed ones ($5), $6 branches that are hidden from them.
const kindSql = (kind: string, title: string, branch: string, isApproved = 'false') => `
  select '${kind}' as kind, c.id, 'approval' as reason, ${title} as title, ${branch} as branch_id, c.created_by, c.updated_at
  from ${kind} c where c.account_id = $1::int and c.status = 'requested' and c.created_by is distinct from $2::int
    and (${branch} = any($3::int[]) or ($4::boolean and ${branch} <> all($5::int[]))) and not ${isApproved}
  union all
  select '${kind}', c.id, c.status, ${title}, ${branch}, c.created_by, c.updated_at
  from ${kind} c where c.account_id = $1::int and c.created_by = $2::int and ${branch} <> all($6::int[])
    and c.status in ('changes_requested', 'approved', 'failed')`;

const itemsSql = [
  kindSql(
    'change_request',
    'c.title',
    'c.branch_id',
    '(exists (select from change_request_approval a where a.change_request_id = c.id and a.user_id = $2::int))',
  ),
  kindSql('deployment', 'c.comment', 'c.branch_id'),
  kindSql('promotion', 'c.comment', 'c.to_branch_id'),
].join('\n  union all');

async function valuesFor(ctx: MetadataContext, call: CallContext): Promise<unknown[]> {
  const held = await ctx.rights.get(call);
  const { everywhere, branchIds, closedBranchIds } = reachOf(held, 'approve');
  const hidden = closedBranchIds.filter((branchId) => !isKnown(held, { branchId }));
  return [call.accountId, call.userId, branchIds, everywhere, closedBranchIds, hidden];
}

/** The items of the caller's inbox, latest first, at most a hundred. */
export async function readInbox(ctx: MetadataContext, call: CallContext): Promise<{ data: InboxItem[] }> {
  const { rows } = await prismaSql(ctx.prisma)(
    `select i.kind, i.id, i.reason, i.title, i.branch_id, b.name as branch_name, i.created_by, i.updated_at
     from (${itemsSql}) i join branch b on b.id = i.branch_id
     order by i.updated_at desc, i.kind, i.id limit ${maxItems}`,
    await valuesFor(ctx, call),
  );
  return { data: rows as InboxItem[] };
}

/** How many items the caller's inbox has, by reason. */
export async function countInbox(ctx: MetadataContext, call: CallContext): Promise<z.infer<typeof inboxCountsSchema>> {
  const counted = reasons.map(
    (reason) =>
      `(select count(*)::int from (select from items where reason = '${reason}' limit ${maxCount}) n) as ${reason}`,
  );
  const { rows } = await prismaSql(ctx.prisma)(
    `with items as (${itemsSql}) select ${counted.join(', ')}`,
    await valuesFor(ctx, call),
  );
  return rows[0] as z.infer<typeof inboxCountsSchema>;
}
