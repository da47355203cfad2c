import { useState } from 'react';

type SeenRevision = { revision: string | null; isOutdated: boolean; lookAgain: () => void };

/**
 * The revision that the person has looked at: steps are of that alone. It stays when others change
 * something, until the person says that they have seen it.
 */
export function useSeenRevision(present: string | null): SeenRevision {
  const [seen, setSeen] = useState(present);
  return {
    revision: seen,
    isOutdated: present !== null && seen !== null && present !== seen,
    lookAgain: () => setSeen(present),
  };
}
