// One branch.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { readId } from '../../address/view.ts';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { branchQuery } from '../branch-query.ts';
import { OpenBranch } from './open-branch.tsx';

export function BranchPage() {
  const { t } = useLingui();
  const id = readId(useParams({ from: '/branches/$id' }).id);
  const { data, error, refetch } = useQuery({ ...branchQuery(id ?? 0), enabled: id !== undefined });
  if (id === undefined || (error as { status?: number } | null)?.status === 404)
    return (
      <EmptyState
        title={<Trans>There is no such branch, or you may not see it</Trans>}
        action={
          <Link to="/branches">
            <Trans>All branches</Trans>
          </Link>
        }
      />
    );
  if (data) return <OpenBranch key={id} branch={data} />;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <Page title={t`Branch`}>
      <Skeleton lines={8} />
    </Page>
  );
}
