// One change request: reads it, again and again while it may change, and shows its review.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { changeRequestQuery } from '../api/queries.ts';
import { Page } from '../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import { type ChangeRequest, ended } from './queries.ts';
import { Review } from './review.tsx';

const minute = 60_000;

export function RequestPage() {
  const { t } = useLingui();
  const id = Number(useParams({ from: '/requests/$id' }).id);
  const isId = Number.isSafeInteger(id) && id > 0;
  const { data, error, refetch } = useQuery({
    ...changeRequestQuery(id),
    enabled: isId,
    refetchInterval: ({ state }) => everyMs(state.data),
  });
  if (!isId || (error as { status?: number } | null)?.status === 404) return <NoRequest />;
  // A poll that fails takes nothing away from what is shown.
  if (data) return <Review key={id} request={data} />;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <Page title={t`Change request ${id}`}>
      <Skeleton lines={8} />
    </Page>
  );
}

function everyMs(request: ChangeRequest | undefined): number | false {
  if (!request || ended.includes(request.status)) return false;
  return request.status === 'applying' ? 2_000 : minute / 2;
}

function NoRequest() {
  return (
    <EmptyState
      title={<Trans>There is no such request</Trans>}
      action={
        <Link to="/requests" search={({ branch }) => ({ branch, tab: 'all' as const })}>
          <Trans>All requests</Trans>
        </Link>
      }
    />
  );
}
