// What the creator of a draft does to its operations: settles conflicts, and takes operations out.
import { useMutation } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { decideKey } from '../decisions/use-decisions.ts';
import type { Settled } from '../operation/row-acts.ts';

// The most that a call takes.
const mostIds = 1_000;

/** `changed`: reads again what the page shows of the request. */
export function useSettle(id: number, changed: () => Promise<void>) {
  const params = { path: { id } };
  const settle = useMutation({
    mutationKey: decideKey(id),
    mutationFn: (some: readonly Settled[]) =>
      client.post('/change_requests/{id}/resolutions', { params, body: { resolutions: resolutionsOf(some) } }),
    onSettled: changed,
  });
  const takeOut = useMutation({
    mutationKey: decideKey(id),
    mutationFn: async (ids: readonly number[]) => {
      for (let start = 0; start < ids.length; start += mostIds) {
        const some = ids.slice(start, start + mostIds);
        await client.post('/change_requests/{id}/operations/remove', { params, body: { ids: some } });
      }
    },
    onSettled: changed,
  });
  return { settle, takeOut };
}

function resolutionsOf(some: readonly Settled[]) {
  return some.map(({ id, column, side }) => {
    if (column !== undefined) return { operation_id: id, columns: { [column]: side } };
    return { operation_id: id, row: side === 'theirs' ? ('theirs' as const) : ('mine' as const) };
  });
}
