// Identity's answers about rights, remembered per user and revision. An event drops what it made old; a question that was under way
// when the event came is asked again, so nobody who comes after an event is answered from before it.
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import type { Bus } from '../messaging/bus/bus.ts';
import { messageId } from '../messaging/bus/received-message.ts';
import type { RpcCaller, RpcClient } from '../rpc/contract.ts';
import { type HeldRights, holdRights, type Rights, userGone } from './rights.ts';

type Identity = Pick<RpcClient<'identity'>, 'GetEffectivePermissions'>;

type Options = {
  /** False while events don't reach us: answers are believed for a second only. */
  isHearing?: () => boolean;
  /** Milliseconds that only rise. */
  now?: () => number;
};

/** What is known of one user. */
type Memory = {
  accountId: number;
  userId: number;
  held?: HeldRights;
  /** The held rights as a promise, made once. */
  answer?: Promise<HeldRights>;
  askedAt: number;
  /** The question under way, which whoever comes now may share. */
  asking?: Promise<HeldRights>;
  /** How many changes were heard of. */
  changes: number;
};

const believedMs = 30_000;
const believedUnheardMs = 1_000;
const mostQuestions = 3;

/** Rights by identity's answers: asked once per user, then from memory until an event or half a minute ends it. */
export function createRights(
  identity: Identity,
  { isHearing = () => true, now = () => performance.now() }: Options = {},
): Rights {
  const memories = new LRUCache<string, Memory>({ max: 10_000 });

  const memoryOf = (accountId: number, userId: number): Memory => {
    const key = `${accountId}:${userId}`;
    let memory = memories.get(key);
    if (!memory) {
      memory = { accountId, userId, askedAt: 0, changes: 0 };
      memories.set(key, memory);
    }
    return memory;
  };

  const believed = (memory: Memory): Promise<HeldRights> | undefined => {
    if (!memory.answer) return undefined;
    const age = now() - memory.askedAt;
    return age < believedUnheardMs || (age < believedMs && isHearing()) ? memory.answer : undefined;
  };

  const ask = async (caller: RpcCaller, memory: Memory): Promise<HeldRights> => {
    for (let questions = 1; ; questions += 1) {
      const { changes } = memory;
      const askedAt = now();
      const held = await askOnce(identity, caller, memory);
      const isCurrent = memory.changes === changes;
      if (isCurrent) remember(memory, held, askedAt);
      if (isCurrent || questions === mostQuestions) return held;
    }
  };

  const share = (caller: RpcCaller, memory: Memory): Promise<HeldRights> => {
    // Others wait for this answer too, and have more time than this caller, perhaps.
    const asking = ask({ ...caller, answerBy: undefined }, memory).finally(() => {
      if (memory.asking === asking) memory.asking = undefined;
    });
    memory.asking = asking;
    return asking;
  };

  return {
    get(caller, { fresh = false } = {}) {
      const memory = memoryOf(caller.accountId, caller.userId as number);
      if (fresh) return ask(caller, memory);
      return believed(memory) ?? memory.asking ?? share(caller, memory);
    },
    forget(accountId, userId, revision) {
      if (userId !== null) {
        const memory = memories.peek(`${accountId}:${userId}`);
        if (memory) forget(memory, revision);
        return;
      }
      for (const memory of memories.values()) if (memory.accountId === accountId) forget(memory, revision);
    },
    forgetAll() {
      for (const memory of memories.values()) forget(memory);
    },
  };
}

async function askOnce(identity: Identity, caller: RpcCaller, memory: Memory): Promise<HeldRights> {
  try {
    return holdRights(await identity.GetEffectivePermissions(caller, { user_id: memory.userId }));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'not_found') throw error;
    forget(memory);
    throw userGone();
  }
}

function forget(memory: Memory, revision?: number): void {
  // Told late: what is remembered is of that revision already, or newer.
  if (revision !== undefined && memory.held && memory.held.revision >= revision) return;
  memory.changes += 1;
  memory.held = undefined;
  memory.answer = undefined;
  memory.asking = undefined;
}

// Of two answers that cross on their way, the one of the newer revision stays as long as it is believed at all.
function remember(memory: Memory, held: HeldRights, askedAt: number): void {
  if (memory.held && memory.held.revision > held.revision && askedAt - memory.askedAt < believedMs) return;
  memory.held = held;
  memory.answer = Promise.resolve(held);
  memory.askedAt = askedAt;
}

// No user: all of the account. An identity of before revisions doesn't name one.
const changeSchema = z.object({
  account_id: messageId,
  user_id: messageId.nullish(),
  revision: z.int().optional(),
});

/** Forgets rights when identity tells that they changed, and all of them whenever that may have been missed. */
export function invalidateOnEvents(bus: Pick<Bus, 'subscribe'>, rights: Rights): Promise<void> {
  return bus.subscribe(
    { 'identity.permission.changed': changeSchema },
    async ({ payload: { account_id, user_id, revision } }) => rights.forget(account_id, user_id ?? null, revision),
    { onConnected: async () => rights.forgetAll() },
  );
}
