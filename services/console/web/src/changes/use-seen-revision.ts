import { useState } from 'react';

type SeenRevision = {
  revision: string | null;
  isOutdated: boolean;
  lookAgain: () => void;
  follow: (revision: string | null) => void;
};

/**
 * The revision that the person has looked at: steps are of that alone. It stays when others change
 * something, until the person says that they have seen it; what their own acts lead to they know.
 */
export function useSeenRevision(present: string | null): SeenRevision {
  const [seen, setSeen] = useState(present);
  return {
    revision: seen,
    isOutdated: present !== null && seen !== null && present !== seen,
    lookAgain: () => setSeen(present),
    follow: setSeen,
  };
}
