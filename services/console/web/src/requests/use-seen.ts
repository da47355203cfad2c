// What the person has seen of a request: its revision, and the tables marked as viewed.
import { useIsMutating, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { meQuery } from '../api/queries.ts';
import { decideKey } from './decisions/use-decisions.ts';
import { type ChangeRequest, operationsKey } from './queries.ts';
import { keepViewedTables, viewedTables } from './review/viewed-tables.ts';

export function useSeen({ id, revision: present }: ChangeRequest) {
  const queries = useQueryClient();
  const { data: me } = useQuery(meQuery);
  const isDeciding = useIsMutating({ mutationKey: decideKey(id) }) > 0;
  const [revision, setRevision] = useState(present);
  const known = useRef(revision);
  const [, setMarked] = useState(0);
  const userId = me?.user?.id ?? 0;
  const seen = { userId, requestId: id, revision };
  const viewed = viewedTables(seen);
  /** Own acts lead to a revision that the person knows: the marks go on. */
  const follow = useCallback(
    (next: string | null) => {
      const before = { userId, requestId: id, revision: known.current };
      if (next === before.revision) return;
      keepViewedTables({ ...before, revision: next }, viewedTables(before));
      known.current = next;
      setRevision(next);
    },
    [userId, id],
  );
  return {
    revision,
    /** Others have changed the request, or rows that it concerns. */
    isOutdated: present !== null && present !== revision && !isDeciding,
    follow,
    /** Shows the request as it is now: what was viewed was something else. */
    lookAgain: () => {
      known.current = present;
      setRevision(present);
      void queries.invalidateQueries({ queryKey: operationsKey(id) });
      void queries.invalidateQueries({ queryKey: ['rehearsals', id] });
    },
    viewed,
    toggleViewed: (tableId: number) => {
      const others = viewed.filter((one) => one !== tableId);
      keepViewedTables(seen, others.length === viewed.length ? [...viewed, tableId] : others);
      setMarked((count) => count + 1);
    },
  };
}
