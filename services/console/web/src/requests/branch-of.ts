import type { ChangeRequest } from './queries.ts';

/** The branch of a request as addresses have it: the default one is not in them. */
export function branchOf({ branch }: Pick<ChangeRequest, 'branch'>): number | undefined {
  return branch.is_default ? undefined : branch.id;
}
