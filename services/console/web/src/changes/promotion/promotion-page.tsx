// One promotion: reads it, again and again while it may change, and shows it.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { readId } from '../../address/view.ts';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { promotionQuery } from '../change-queries.ts';
import { OpenPromotion } from './open-promotion.tsx';

export function PromotionPage() {
  const { t } = useLingui();
  const id = readId(useParams({ from: '/promotions/$id' }).id);
  const { data, error, refetch } = useQuery({ ...promotionQuery(id ?? 0), enabled: id !== undefined });
  if (id === undefined || (error as { status?: number } | null)?.status === 404)
    return (
      <EmptyState
        title={<Trans>There is no such promotion, or you may not see it</Trans>}
        action={
          <Link to="/branches">
            <Trans>All branches</Trans>
          </Link>
        }
      />
    );
  // A poll that fails takes nothing away from what is shown.
  if (data) return <OpenPromotion key={id} promotion={data} />;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <Page title={t`Promotion #${id}`}>
      <Skeleton lines={8} />
    </Page>
  );
}
