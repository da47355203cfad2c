// The branches of the account as a tree.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { branchesQuery } from '../../api/queries.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import styles from '../branches.module.css';
import { NewBranchDialog } from '../dialogs/new-branch-dialog.tsx';
import { useMayBranch } from '../policy/use-may-branch.ts';
import { BranchLine } from './branch-line.tsx';
import { type BranchNode, branchTree, findNodes } from './branch-tree.ts';

export function BranchesPage() {
  const { t } = useLingui();
  const [typed, setTyped] = useState('');
  const [isNew, setIsNew] = useState(false);
  const { mayBranch, whyNot } = useMayBranch();
  const { data, error, refetch } = useQuery(branchesQuery);
  return (
    <Page
      title={t`Branches`}
      note={data && <Plural value={data.length} one="# branch you may see" other="# branches you may see" />}
      actions={
        <div className={pageStyles.tools}>
          <SearchBox label={t`Filter branches`} value={typed} onChange={setTyped} />
          {mayBranch && (
            <Button kind="primary" onPress={() => setIsNew(true)}>
              <Trans>New branch…</Trans>
            </Button>
          )}
        </div>
      }
    >
      {whyNot && <Notice>{whyNot}</Notice>}
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Found
          nodes={branchTree(data)}
          typed={typed}
          isCompared={data.length <= comparedBranches}
          onClear={() => setTyped('')}
        />
      ) : (
        <Skeleton lines={6} />
      )}
      {isNew && <NewBranchDialog onClose={() => setIsNew(false)} />}
    </Page>
  );
}

// Of more branches it is not said how far they are from their parents: each takes a call.
const comparedBranches = 20;

type FoundProps = { nodes: BranchNode[]; typed: string; isCompared: boolean; onClear: () => void };

function Found({ nodes, typed, isCompared, onClear }: FoundProps) {
  const wanted = typed.trim().toLowerCase();
  const found = findNodes(nodes, ({ name, description }) =>
    [name, description ?? ''].some((text) => text.toLowerCase().includes(wanted)),
  );
  if (found.length === 0)
    return (
      <EmptyState
        title={<Trans>No branch matches “{typed}”</Trans>}
        action={
          <Button onPress={onClear}>
            <Trans>Show all branches</Trans>
          </Button>
        }
      />
    );
  return <Nodes nodes={found} isCompared={isCompared} />;
}

type NodesProps = { nodes: readonly BranchNode[]; parent?: BranchNode['branch']; isCompared: boolean };

function Nodes({ nodes, parent, isCompared }: NodesProps) {
  return (
    <ul className={parent ? styles.children : styles.tree}>
      {nodes.map(({ branch, children }) => (
        <li key={branch.id}>
          <BranchLine branch={branch} parent={isCompared ? parent : undefined} />
          {children.length > 0 && <Nodes nodes={children} parent={branch} isCompared={isCompared} />}
        </li>
      ))}
    </ul>
  );
}
