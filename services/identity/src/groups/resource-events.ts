import { prismaSql } from '@almanac/service-kit/postgres/database';
// Consumes metadata's events of domains and branches, and creates, renames and deletes their
// groups. Messages may be redelivered or arrive late.

import { limits } from '@almanac/service-kit/limits';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { type MessageOf, messageId, samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { receiveOnce } from '@almanac/service-kit/messaging/inbox';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { lockAccount } from '../permissions/administrators.ts';
import { saveBranchVisibility } from '../permissions/branch-visibility.ts';
import { type Transaction, transact } from '../transaction.ts';
import { deleteGroups, ensureGroups, type Resource } from './resource-groups.ts';

const queue = 'identity.resource_groups';
const common = {
  account_id: messageId,
  name: z
    .string()
    .max(2 * limits.nameCodePoints)
    .optional(),
  creator_id: messageId.nullish(),
};
const types = (noun: string) => ['created', 'updated', 'deleted'].map((verb) => `metadata.${noun}.${verb}`);
const payloads = {
  ...samePayload(types('domain'), z.object({ ...common, domain_id: messageId })),
  ...samePayload(
    types('branch'),
    z.object({
      ...common,
      branch_id: messageId,
      // Metadata of an earlier release sends none of the three.
      branch_type: z.enum(['shared', 'private']).optional(),
      owner_id: messageId.nullish(),
      revision: z.int().min(0).optional(),
    }),
  ),
};
type BranchPayload = Extract<MessageOf<typeof payloads>['payload'], { branch_id: number }>;

/** Consumes the events while the bus runs. */
export function consumeResourceEvents(ctx: IdentityContext, bus: Bus): Promise<void> {
  return bus.consume(queue, payloads, (message) => receive(ctx, message));
}

async function receive(ctx: IdentityContext, message: MessageOf<typeof payloads>): Promise<void> {
  const [, noun, verb] = message.type.split('.') as [string, 'domain' | 'branch', string];
  const { payload } = message;
  const id = 'domain_id' in payload ? payload.domain_id : payload.branch_id;
  const resource: Resource = { account_id: payload.account_id, resource_type: noun, resource_id: id };
  await transact(ctx, async (tx) => {
    if (!(await receiveOnce(prismaSql(tx), queue, message.id))) return;
    if (!(await tx.account.findUnique({ where: { id: payload.account_id }, select: { id: true } }))) return;
    await lockAccount(tx, payload.account_id);
    // Visibility first: the names of new groups must not show to users who don't see the branch.
    if ('branch_id' in payload) await saveVisibility(tx, payload, message.request_id);
    if (verb === 'deleted') return deleteGroups(tx, resource, message.request_id);
    await ensureGroups(tx, resource, {
      name: payload.name,
      creatorId: payload.creator_id ?? undefined,
      rename: verb === 'updated',
      requestId: message.request_id,
    });
  });
}

async function saveVisibility(tx: Transaction, payload: BranchPayload, requestId: string | undefined): Promise<void> {
  const { account_id, branch_id, branch_type, owner_id = null, revision } = payload;
  if (revision === undefined) return;
  const visibility = { is_private: branch_type === 'private', owner_id, revision };
  await saveBranchVisibility(tx, { account_id, branch_id }, visibility, requestId);
}
