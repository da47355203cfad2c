import type { Branch } from '../../api/queries.ts';
import { type BranchNode, branchTree, findNodes } from './branch-tree.ts';

const branch = (id: number, name: string, parent_branch_id: number | null) =>
  ({ id, name, parent_branch_id, is_default: name === 'main' }) as Branch;
const branches = [
  branch(4, 'fix', 3),
  branch(3, 'year', 1),
  branch(5, 'a lost one', 9),
  branch(1, 'main', null),
  branch(2, 'area', 1),
];
const names = (nodes: readonly BranchNode[]): unknown[] =>
  nodes.map(({ branch: { name }, children }) => (children.length > 0 ? [name, names(children)] : name));

describe('the tree of branches', () => {
  it('begins with the default branch, and shows a branch whose parent is hidden', () => {
    expect(names(branchTree(branches))).toEqual([['main', ['area', ['year', ['fix']]]], 'a lost one']);
  });

  it('shows what is found with what is above it', () => {
    expect(names(findNodes(branchTree(branches), ({ name }) => name === 'fix'))).toEqual([
      ['main', [['year', ['fix']]]],
    ]);
    expect(findNodes(branchTree(branches), () => false)).toEqual([]);
  });
});
