// Hears what metadata tells of domains and branches, and keeps their groups in step. Messages may come twice or late.

import { limits } from '@almanac/service-kit/limits';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { type MessageOf, messageId, samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { receiveOnce } from '@almanac/service-kit/messaging/inbox';
import { z } from 'zod';
import { lockAccount } from './administrators.ts';
import type { IdentityContext } from './context.ts';
import { type Transaction, transact } from './database.ts';
import { dropGroups, ensureGroups, keepBranchSight, type Resource } from './resource-groups.ts';

const queue = 'identity.resource_groups';
const common = {
  account_id: messageId,
  name: z
    .string()
    .max(2 * limits.nameCodePoints)
    .optional(),
  creator_id: messageId.nullish(),
};
const types = (noun: string) => ['created', 'updated', 'deleted'].map((done) => `metadata.${noun}.${done}`);
const payloads = {
  ...samePayload(types('domain'), z.object({ ...common, domain_id: messageId })),
  ...samePayload(
    types('branch'),
    z.object({
      ...common,
      branch_id: messageId,
      // A metadata of an earlier release tells none of the three.
      branch_type: z.enum(['shared', 'private']).optional(),
      owner_id: messageId.nullish(),
      revision: z.int().min(0).optional(),
    }),
  ),
};
type BranchPayload = Extract<MessageOf<typeof payloads>['payload'], { branch_id: number }>;

/** Consumes the events for as long as the bus runs. */
export function consumeResourceEvents(ctx: IdentityContext, bus: Bus): Promise<void> {
  return bus.consume(queue, payloads, (message) => receive(ctx, message));
}

async function receive(ctx: IdentityContext, message: MessageOf<typeof payloads>): Promise<void> {
  const [, noun, done] = message.type.split('.') as [string, 'domain' | 'branch', string];
  const { payload } = message;
  const id = 'domain_id' in payload ? payload.domain_id : payload.branch_id;
  const resource: Resource = { account_id: payload.account_id, resource_type: noun, resource_id: id };
  await transact(ctx.prisma, async (tx) => {
    if (!(await receiveOnce(tx.sql, queue, message.id))) return;
    if (!(await tx.db.account.findUnique({ where: { id: payload.account_id }, select: { id: true } }))) return;
    await lockAccount(tx, payload.account_id);
    // Before the groups: nobody hears their names who doesn't see the branch.
    if ('branch_id' in payload) await keepSight(tx, payload, message.request_id);
    if (done === 'deleted') return dropGroups(tx, resource, message.request_id);
    await ensureGroups(tx, resource, {
      name: payload.name,
      creatorId: payload.creator_id ?? undefined,
      rename: done === 'updated',
      requestId: message.request_id,
    });
  });
}

async function keepSight(tx: Transaction, payload: BranchPayload, requestId: string | undefined): Promise<void> {
  const { account_id, branch_id, branch_type, owner_id = null, revision } = payload;
  if (revision === undefined) return;
  const sight = { is_private: branch_type === 'private', owner_id, revision };
  await keepBranchSight(tx, { account_id, branch_id }, sight, requestId);
}
