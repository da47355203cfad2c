// What is stored of an account once its calls are booked, so that two readings can be compared.
import { eventually } from '@almanac/testkit/eventually';
import type { StoredState, Stores } from '@almanac/testkit/system/stored-state';
import { patienceMs } from './killing.ts';

/** Waits until no gateway has a lease of the account's calls, and nothing waits to be announced. */
export async function restingState(stores: Stores, accountId: number): Promise<StoredState> {
  await eventually(
    async () => {
      const open = 'select true from call_lease where account_id = $1 and closed_at is null';
      expect(await stores.query('billing', open, [accountId])).toEqual([]);
      const waiting = `select type from outbox where payload->>'account_id' = $1::text`;
      for (const database of ['identity', 'metadata', 'data', 'jobs', 'billing'] as const)
        expect(await stores.query(database, waiting, [accountId])).toEqual([]);
    },
    { withinMs: patienceMs },
  );
  return stores.stateOf(accountId);
}
