// The promotions and deployments of a branch.
import { Trans } from '@lingui/react/macro';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DeploymentLine, PromotionLine } from '../../changes/change-line.tsx';
import { deploymentsQuery, promotionsQuery } from '../../changes/change-queries.ts';
import { LineList } from '../../parts/blocks/line-list.tsx';
import styles from '../../parts/page.module.css';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';

type BranchChangesProps = { branch: { id: number } };

export function BranchPromotions({ branch }: BranchChangesProps) {
  return (
    <Changes
      id="promotions"
      title={<Trans>Promotions</Trans>}
      none={<Trans>Nothing was promoted from it or to it</Trans>}
      query={useQuery(promotionsQuery(branch.id))}
    >
      {(promotion) => <PromotionLine promotion={promotion} />}
    </Changes>
  );
}

export function BranchDeployments({ branch }: BranchChangesProps) {
  return (
    <Changes
      id="deployments"
      title={<Trans>Deployments</Trans>}
      none={<Trans>Nothing was deployed on it yet</Trans>}
      query={useQuery(deploymentsQuery(branch.id))}
    >
      {(deployment) => <DeploymentLine deployment={deployment} />}
    </Changes>
  );
}

type ChangesProps<T> = {
  id: string;
  title: ReactNode;
  /** Without any. */
  none: ReactNode;
  query: UseQueryResult<T[]>;
  children: (change: T) => ReactNode;
};

function Changes<T extends { id: number }>({ id, title, none, query, children }: ChangesProps<T>) {
  const { data, error, refetch } = query;
  return (
    <section className={styles.section} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={2} />
      ) : data.length === 0 ? (
        <EmptyState title={none} />
      ) : (
        <LineList items={data}>{children}</LineList>
      )}
    </section>
  );
}
