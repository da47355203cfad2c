// The branch of the address, or the default one, and what is asked of it.
import { useLingui } from '@lingui/react/macro';
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type Branch, branchesQuery, type Table, tablesQuery } from '../api/queries.ts';

type CurrentBranch = { branch: Branch | undefined; branches: Branch[]; error: unknown; retry: () => void };

const useBranchId = () => (useSearch({ strict: false }) as { branch?: number }).branch;

/** The branch that is worked on; undefined until the branches are known, and when it is none. */
export function useBranch(): CurrentBranch {
  const { t } = useLingui();
  const id = useBranchId();
  const { data: branches, error, refetch } = useQuery(branchesQuery);
  const branch = branches?.find((one) => (id === undefined ? one.is_default : one.id === id));
  const unknown = branches && !branch ? new Error(t`There is no such branch, or you may not see it.`) : null;
  return { branch, branches: branches ?? [], error: error ?? unknown, retry: () => void refetch() };
}

/** The deployed tables of the branch of the address. They are read beside the branches. */
export function useTables(): OfBranch<Table[]> {
  const { branch, error: branchError, retry } = useBranch();
  const { data, error, refetch } = useQuery(tablesQuery(useBranchId() ?? 'default'));
  const retryBoth = () => {
    retry();
    void refetch();
  };
  return { branch, data, error: branchError ?? error, retry: retryBoth };
}

type OfBranch<T> = Pick<CurrentBranch, 'branch' | 'error' | 'retry'> & { data: T | undefined };

/** The answer to a query about the branch. `retry` asks again, for the branches too. */
export function useOfBranch<T, K extends QueryKey>(
  queryOf: (branchId: number) => UseQueryOptions<T, Error, T, K>,
): OfBranch<T> {
  const { branch, error: branchError, retry } = useBranch();
  const { data, error, refetch } = useQuery({ ...queryOf(branch?.id ?? 0), enabled: branch !== undefined });
  return { branch, data, error: branchError ?? error, retry: branchError ? retry : () => void refetch() };
}
