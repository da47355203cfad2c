// The branches below their parents.
import type { Branch } from '../../api/queries.ts';

export type BranchNode = { branch: Branch; children: BranchNode[] };

/** A branch whose parent the person doesn't see stands at the top. The default branch is first. */
export function branchTree(branches: readonly Branch[]): BranchNode[] {
  const known = new Set(branches.map(({ id }) => id));
  const nodesOf = (parentId: number | null): BranchNode[] =>
    branches
      .filter(({ parent_branch_id: id }) => (id !== null && known.has(id) ? id : null) === parentId)
      .toSorted((a, b) => Number(b.is_default) - Number(a.is_default) || a.name.localeCompare(b.name))
      .map((branch) => ({ branch, children: nodesOf(branch.id) }));
  return nodesOf(null);
}

/** The nodes whose branches are found, each with the branches above it. */
export function findNodes(nodes: readonly BranchNode[], isFound: (branch: Branch) => boolean): BranchNode[] {
  return nodes
    .map(({ branch, children }) => ({ branch, children: findNodes(children, isFound) }))
    .filter(({ branch, children }) => children.length > 0 || isFound(branch));
}
