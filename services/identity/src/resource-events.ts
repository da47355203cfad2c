// Hears what metadata tells of domains and branches, and keeps their groups in step. Messages may come twice or late.
import type { Bus, BusMessage } from '@almanac/service-kit/bus/bus';
import { receiveOnce } from '@almanac/service-kit/inbox';
import { lockAccount } from './administrators.ts';
import type { IdentityContext } from './context.ts';
import { transact } from './database.ts';
import { dropGroups, ensureGroups, type Resource } from './resource-groups.ts';

const queue = 'identity.resource_groups';
const types = ['domain', 'branch'].flatMap((noun) =>
  ['created', 'updated', 'deleted'].map((done) => `metadata.${noun}.${done}`),
);

/** Consumes the events for as long as the bus runs. */
export function consumeResourceEvents(ctx: IdentityContext, bus: Bus): Promise<void> {
  return bus.consume(queue, types, (message) => receive(ctx, message));
}

type Payload = {
  account_id: number;
  domain_id?: number;
  branch_id?: number;
  name?: string;
  creator_id?: number | null;
};

async function receive(ctx: IdentityContext, message: BusMessage): Promise<void> {
  const [, noun, done] = message.type.split('.') as [string, 'domain' | 'branch', string];
  const payload = message.payload as Payload;
  const id = noun === 'domain' ? payload.domain_id : payload.branch_id;
  const resource: Resource = { account_id: payload.account_id, resource_type: noun, resource_id: id as number };
  await transact(ctx.prisma, async (tx) => {
    if (!(await receiveOnce(tx.sql, queue, message.id))) return;
    if (!(await tx.db.account.findUnique({ where: { id: payload.account_id }, select: { id: true } }))) return;
    if (done === 'deleted') return dropGroups(tx, resource, message.request_id);
    await lockAccount(tx, payload.account_id);
    await ensureGroups(tx, resource, {
      name: payload.name,
      creatorId: payload.creator_id ?? undefined,
      rename: done === 'updated',
      requestId: message.request_id,
    });
  });
}
