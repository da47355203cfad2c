// A page of the change requests of a branch or of a person, those changed last first.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { LineList } from '../../parts/blocks/line-list.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { useRequestWords } from '../request-words.ts';
import listStyles from './list.module.css';
import { requestListQuery, type Scope } from './list-queries.ts';
import { RequestLine } from './request-line.tsx';
import type { RequestsView } from './requests-view.ts';

type RequestListProps = { scope: Scope; view: RequestsView; onClear: () => void };

export function RequestList({ scope, view, onClear }: RequestListProps) {
  const { data, error, refetch } = useQuery(requestListQuery(scope, view));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  if (data.data.length === 0) {
    if (view.q || view.status || view.page) return <NoneFound view={view} onClear={onClear} />;
    return 'created_by' in scope ? <NoneMine /> : <NoneHere />;
  }
  return (
    <>
      <LineList items={data.data}>
        {(request) => <RequestLine request={request} isBranchShown={'created_by' in scope} />}
      </LineList>
      <Pages meta={data.meta} />
    </>
  );
}

function NoneFound({ view: { q, status }, onClear }: Pick<RequestListProps, 'view' | 'onClear'>) {
  const words = useRequestWords();
  const state = status && words.status[status].name;
  return (
    <EmptyState
      title={
        q && state ? (
          <Trans>
            No request in the state “{state}” matches “{q}”
          </Trans>
        ) : q ? (
          <Trans>No request matches “{q}”</Trans>
        ) : state ? (
          <Trans>No request is in the state “{state}”</Trans>
        ) : (
          <Trans>There are no requests on this page</Trans>
        )
      }
      action={
        <Button onPress={onClear}>
          <Trans>Show all requests</Trans>
        </Button>
      }
    />
  );
}

function NoneMine() {
  return (
    <EmptyState
      title={<Trans>You have proposed nothing yet</Trans>}
      action={
        <Link to="/tables">
          <Trans>Open a table</Trans>
        </Link>
      }
    >
      <Trans>Change rows of a table whose changes are proposed, and they become a request here.</Trans>
    </EmptyState>
  );
}

function NoneHere() {
  return (
    <EmptyState
      title={<Trans>No change has been requested here</Trans>}
      action={
        <Link to="/tables">
          <Trans>Open a table</Trans>
        </Link>
      }
    >
      <Trans>A change request proposes changes to rows, and others approve them before they are applied.</Trans>
    </EmptyState>
  );
}

type Meta = { page: number; per_page: number; total_count: number; total_pages: number };

function Pages({ meta: { page, per_page, total_count, total_pages } }: { meta: Meta }) {
  const { t } = useLingui();
  if (total_pages <= 1) return null;
  const first = (page - 1) * per_page + 1;
  const last = Math.min(page * per_page, total_count);
  return (
    <nav className={listStyles.pages} aria-label={t`Pages of the list`}>
      {page > 1 && (
        <Link to="/requests" search={(search) => ({ ...search, page: page === 2 ? undefined : page - 1 })} rel="prev">
          <Trans>Previous</Trans>
        </Link>
      )}
      <span>
        <Trans>
          {first}–{last} of {total_count}
        </Trans>
      </span>
      {page < total_pages && (
        <Link to="/requests" search={(search) => ({ ...search, page: page + 1 })} rel="next">
          <Trans>Next</Trans>
        </Link>
      )}
    </nav>
  );
}
