// The branch of the address, or the default one.
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type Branch, branchesQuery } from '../api/queries.ts';

/** The branch that is worked on; undefined until the branches are known. */
export function useBranch(): { branch: Branch | undefined; branches: Branch[]; error: unknown } {
  const { branch: id } = useSearch({ strict: false }) as { branch?: number };
  const { data: branches = [], error } = useQuery(branchesQuery);
  const branch = branches.find((one) => (id === undefined ? one.is_default : one.id === id));
  return { branch, branches, error };
}
