// Compares the structures and rows of two branches, or of two instants.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowLeftRight } from 'lucide-react';
import { useState } from 'react';
import { useBranch } from '../address/use-branch.ts';
import { tablesQuery } from '../api/queries.ts';
import { PromoteDialog } from '../changes/proposal/promote-dialog.tsx';
import { Button } from '../parts/button.tsx';
import { useTitle } from '../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import styles from './compare.module.css';
import { type CompareView, readSide, type Side, writeSide } from './compare-view.ts';
import { Comparison } from './comparison.tsx';
import { SideFields } from './side-fields.tsx';

export function ComparePage() {
  const { t } = useLingui();
  useTitle(t`Compare`);
  const view = useSearch({ from: '/compare' });
  const { branch, branches, error, retry } = useBranch();
  if (error) return <ErrorState error={error} onRetry={retry} />;
  const main = branches.find(({ is_default }) => is_default);
  if (!branch || !main)
    return (
      <div className={styles.compare}>
        <h1>
          <Trans>Compare</Trans>
        </h1>
        <Skeleton lines={8} />
      </div>
    );
  const left = readSide(view.left) ?? { branchId: branch.parent_branch_id ?? main.id, asOf: undefined };
  const right = readSide(view.right) ?? { branchId: branch.id, asOf: undefined };
  return <Compared left={left} right={right} view={view} />;
}

type ComparedProps = { left: Side; right: Side; view: CompareView };

function Compared({ left, right, view }: ComparedProps) {
  const { t } = useLingui();
  const navigate = useNavigate({ from: '/compare' });
  const { branches } = useBranch();
  const [isPromoting, setIsPromoting] = useState(false);
  const change = (part: CompareView) =>
    void navigate({ to: '.', search: (search) => ({ ...search, ...part }), replace: true });
  const compare = (one: Side, other: Side) =>
    change({ left: writeSide(one), right: writeSide(other), kind: undefined });
  const from = branches.find(({ id }) => id === right.branchId);
  const areOtherBranches = left.branchId !== right.branchId;
  const mayPromote = from && areOtherBranches && left.asOf === undefined && right.asOf === undefined;
  return (
    <div className={styles.compare}>
      <div className={styles.head}>
        <h1>
          <Trans>Compare</Trans>
        </h1>
        {mayPromote && (
          <Button kind="primary" onPress={() => setIsPromoting(true)}>
            <Trans>Make a promotion…</Trans>
          </Button>
        )}
      </div>
      <div className={styles.sides}>
        <SideFields
          name={<Trans>From</Trans>}
          side={left}
          branches={branches}
          onChange={(side) => compare(side, right)}
        />
        <Button kind="quiet" aria-label={t`Exchange the sides`} onPress={() => compare(right, left)}>
          <ArrowLeftRight size={16} aria-hidden />
        </Button>
        <SideFields
          name={<Trans>To</Trans>}
          side={right}
          branches={branches}
          onChange={(side) => compare(left, side)}
        />
      </div>
      {writeSide(left) === writeSide(right) ? (
        <EmptyState title={<Trans>Both sides are the same</Trans>}>
          <Trans>Choose another branch, or another instant, for one of them.</Trans>
        </EmptyState>
      ) : (
        <Tables left={left} right={right} view={view} change={change} />
      )}
      {isPromoting && from && <PromoteDialog from={from} toId={left.branchId} onClose={() => setIsPromoting(false)} />}
    </div>
  );
}

type TablesProps = ComparedProps & { change: (part: CompareView) => void };

function Tables({ left, right, view, change }: TablesProps) {
  const onLeft = useQuery(tablesQuery(left.branchId));
  const onRight = useQuery(tablesQuery(right.branchId));
  const failed = [onLeft, onRight].find(({ error }) => error);
  if (failed) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (!onLeft.data || !onRight.data) return <Skeleton lines={8} />;
  return (
    <Comparison
      left={left}
      right={right}
      leftTables={onLeft.data}
      rightTables={onRight.data}
      view={view}
      onKind={(kind) => change({ kind })}
    />
  );
}
