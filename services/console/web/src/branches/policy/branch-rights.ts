// What rights allow that the API doesn't say of each branch.
import type { Schemas } from '../../api/client.ts';
import type { Branch } from '../../api/queries.ts';

type Rights = Schemas['Rights'];

/** Whether the person may make branches: those who develop anywhere may. */
export function mayMakeBranches({ develop }: Rights): boolean {
  return develop.everywhere || develop.domain_ids.length > 0 || develop.branch_ids.length > 0;
}

/** Whether the person may set the policy of rows, as approvers and administrators there may. */
export function maySetPolicy({ approve, admin }: Rights, branch: Pick<Branch, 'id' | 'branch_type'>): boolean {
  const isHere = [approve, admin].some(({ branch_ids }) => branch_ids.includes(branch.id));
  return isHere || admin.everywhere || (approve.everywhere && branch.branch_type === 'shared');
}
