// One deployment: reads it, again and again while it may change, and shows it.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { readId } from '../../address/view.ts';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { deploymentQuery } from '../change-queries.ts';
import { OpenDeployment } from './open-deployment.tsx';

export function DeploymentPage() {
  const { t } = useLingui();
  const id = readId(useParams({ from: '/deployments/$id' }).id);
  const { data, error, refetch } = useQuery({ ...deploymentQuery(id ?? 0), enabled: id !== undefined });
  if (id === undefined || (error as { status?: number } | null)?.status === 404)
    return (
      <EmptyState
        title={<Trans>There is no such deployment, or you may not see it</Trans>}
        action={
          <Link to="/branches">
            <Trans>All branches</Trans>
          </Link>
        }
      />
    );
  // A poll that fails takes nothing away from what is shown.
  if (data) return <OpenDeployment key={id} deployment={data} />;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <Page title={t`Deployment #${id}`}>
      <Skeleton lines={8} />
    </Page>
  );
}
