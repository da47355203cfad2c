// What is stored of an account once its calls are booked, so that two readings can be compared.
import { eventually } from '@almanac/testkit/eventually';
import type { StoredState, Stores } from '@almanac/testkit/system/stored-state';
import { patienceMs } from './killing.ts';

/** Waits until no gateway has a lease of the account's calls, and its events are handled. */
export async function restingState(stores: Stores, accountId: number): Promise<StoredState> {
  await eventually(
    async () => {
      const open = 'select true from call_lease where account_id = $1 and closed_at is null';
      expect(await stores.query('billing', open, [accountId])).toEqual([]);
      expect(await stores.pendingEvents(accountId)).toEqual([]);
    },
    { withinMs: patienceMs },
  );
  return stores.stateOf(accountId);
}
