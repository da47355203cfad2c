// Caches identity's answers about rights, per user and revision. An event drops the answers that it
// made old, and a request in flight when the event came is sent again: a caller never gets rights
// older than an event that came before its call.
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import type { Bus } from '../messaging/bus/bus.ts';
import { messageId } from '../messaging/bus/received-message.ts';
import type { RpcCaller, RpcClient } from '../rpc/contract.ts';
import { compileRights, type HeldRights, type Rights, unknownUser } from './rights.ts';

type Identity = Pick<RpcClient<'identity'>, 'GetEffectivePermissions'>;

type Options = {
  /** False while no events arrive: a cached answer then lives for one second only. */
  isReceivingEvents?: () => boolean;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
};

/** The cached rights of one user. */
type Entry = {
  accountId: number;
  userId: number;
  held?: HeldRights;
  /** The held rights as a promise, made once. */
  answer?: Promise<HeldRights>;
  askedAt: number;
  /** The request in flight, which concurrent callers share. */
  inFlight?: Promise<HeldRights>;
  /** Counts the events that invalidated this entry. */
  invalidations: number;
};

const ttlMs = 30_000;
const ttlWithoutEventsMs = 1_000;
const maxFetches = 3;

/** Rights by identity's answers, cached until an event or the TTL of half a minute ends them. */
export function createRightsCache(
  identity: Identity,
  { isReceivingEvents = () => true, now = () => performance.now() }: Options = {},
): Rights {
  const entries = new LRUCache<string, Entry>({ max: 10_000 });

  const entryOf = (accountId: number, userId: number): Entry => {
    const key = `${accountId}:${userId}`;
    let entry = entries.get(key);
    if (!entry) {
      entry = { accountId, userId, askedAt: 0, invalidations: 0 };
      entries.set(key, entry);
    }
    return entry;
  };

  const cached = (entry: Entry): Promise<HeldRights> | undefined => {
    if (!entry.answer) return undefined;
    const age = now() - entry.askedAt;
    return age < ttlWithoutEventsMs || (age < ttlMs && isReceivingEvents()) ? entry.answer : undefined;
  };

  const fetch = async (caller: RpcCaller, entry: Entry): Promise<HeldRights> => {
    for (let fetches = 1; ; fetches += 1) {
      const { invalidations } = entry;
      const askedAt = now();
      const held = await fetchOnce(identity, caller, entry);
      const isCurrent = entry.invalidations === invalidations;
      if (isCurrent) store(entry, held, askedAt);
      if (isCurrent || fetches === maxFetches) return held;
    }
  };

  const fetchShared = (caller: RpcCaller, entry: Entry): Promise<HeldRights> => {
    // Callers with later deadlines may share this request, so this caller's deadline doesn't bound
    // it.
    const inFlight = fetch({ ...caller, answerBy: undefined }, entry).finally(() => {
      if (entry.inFlight === inFlight) entry.inFlight = undefined;
    });
    entry.inFlight = inFlight;
    return inFlight;
  };

  return {
    get(caller, { fresh = false } = {}) {
      const entry = entryOf(caller.accountId, caller.userId as number);
      if (fresh) return fetch(caller, entry);
      return cached(entry) ?? entry.inFlight ?? fetchShared(caller, entry);
    },
    invalidate(accountId, userId, revision) {
      if (userId !== null) {
        const entry = entries.peek(`${accountId}:${userId}`);
        if (entry) invalidate(entry, revision);
        return;
      }
      for (const entry of entries.values()) if (entry.accountId === accountId) invalidate(entry, revision);
    },
    invalidateAll() {
      for (const entry of entries.values()) invalidate(entry);
    },
  };
}

async function fetchOnce(identity: Identity, caller: RpcCaller, entry: Entry): Promise<HeldRights> {
  try {
    return compileRights(await identity.GetEffectivePermissions(caller, { user_id: entry.userId }));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'not_found') throw error;
    invalidate(entry);
    throw unknownUser();
  }
}

function invalidate(entry: Entry, revision?: number): void {
  // A late event: the cached answer is of that revision already, or newer.
  if (revision !== undefined && entry.held && entry.held.revision >= revision) return;
  entry.invalidations += 1;
  entry.held = undefined;
  entry.answer = undefined;
  entry.inFlight = undefined;
}

// Of two answers that cross on their way, the one of the newer revision stays for its whole TTL.
function store(entry: Entry, held: HeldRights, askedAt: number): void {
  if (entry.held && entry.held.revision > held.revision && askedAt - entry.askedAt < ttlMs) return;
  entry.held = held;
  entry.answer = Promise.resolve(held);
  entry.askedAt = askedAt;
}

// Without a user the event is about all of the account. Releases before revisions send none.
const changeSchema = z.object({
  account_id: messageId,
  user_id: messageId.nullish(),
  revision: z.int().optional(),
});

/**
 * Invalidates rights when identity announces a change, and all of them when events may have been
 * missed.
 */
export function invalidateOnEvents(bus: Pick<Bus, 'subscribe'>, rights: Rights): Promise<void> {
  return bus.subscribe(
    { 'identity.permission.changed': changeSchema },
    async ({ payload: { account_id, user_id, revision } }) => rights.invalidate(account_id, user_id ?? null, revision),
    { onConnected: async () => rights.invalidateAll() },
  );
}
