// The promotions and deployments of a branch.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { DeploymentLine, PromotionLine } from '../../changes/change-line.tsx';
import { deploymentsQuery, promotionsQuery } from '../../changes/change-queries.ts';
import styles from '../../parts/page.module.css';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';

type BranchChangesProps = { branch: { id: number } };

export function BranchPromotions({ branch }: BranchChangesProps) {
  const { data, error, refetch } = useQuery(promotionsQuery(branch.id));
  return (
    <section className={styles.section} aria-labelledby="promotions-title">
      <h2 id="promotions-title">
        <Trans>Promotions</Trans>
      </h2>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={2} />
      ) : data.length === 0 ? (
        <EmptyState title={<Trans>Nothing was promoted from it or to it</Trans>} />
      ) : (
        <ul className={styles.list}>
          {data.map((promotion) => (
            <li key={promotion.id}>
              <PromotionLine promotion={promotion} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

export function BranchDeployments({ branch }: BranchChangesProps) {
  const { data, error, refetch } = useQuery(deploymentsQuery(branch.id));
  return (
    <section className={styles.section} aria-labelledby="deployments-title">
      <h2 id="deployments-title">
        <Trans>Deployments</Trans>
      </h2>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={2} />
      ) : data.length === 0 ? (
        <EmptyState title={<Trans>Nothing was deployed on it yet</Trans>} />
      ) : (
        <ul className={styles.list}>
          {data.map((deployment) => (
            <li key={deployment.id}>
              <DeploymentLine deployment={deployment} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
