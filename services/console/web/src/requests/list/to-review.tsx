// What waits for a decision of this person: change requests, deployments and promotions.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { inboxQuery } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import styles from '../../parts/page.module.css';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { requestsByIdQuery } from './list-queries.ts';
import { RequestLine, WaitingLine } from './request-line.tsx';

export function ToReview({ q = '', onClear }: { q: string | undefined; onClear: () => void }) {
  const { data, error, refetch } = useQuery(inboxQuery);
  const waiting = data?.data.filter(({ reason }) => reason === 'approval') ?? [];
  const ids = waiting.filter(({ kind }) => kind === 'change_request').map(({ id }) => id);
  const { data: requests } = useQuery(requestsByIdQuery(ids));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={6} />;
  if (waiting.length === 0)
    return (
      <EmptyState
        title={<Trans>Nothing waits for your review</Trans>}
        action={
          <Link to="/requests" search={(search) => ({ branch: search.branch, tab: 'all' as const })}>
            <Trans>All requests</Trans>
          </Link>
        }
      >
        <Trans>What others propose, and you may approve, appears here.</Trans>
      </EmptyState>
    );
  const found = waiting.filter(({ title }) => (title ?? '').toLowerCase().includes(q.toLowerCase()));
  if (found.length === 0)
    return (
      <EmptyState
        title={<Trans>No request matches “{q}”</Trans>}
        action={
          <Button onPress={onClear}>
            <Trans>Show all requests</Trans>
          </Button>
        }
      />
    );
  return (
    <ul className={styles.list}>
      {found.map((item) => {
        const request = item.kind === 'change_request' ? requests?.get(item.id) : undefined;
        return (
          <li key={`${item.kind}:${item.id}`}>
            {request ? <RequestLine request={request} isBranchShown /> : <WaitingLine item={item} />}
          </li>
        );
      })}
    </ul>
  );
}
