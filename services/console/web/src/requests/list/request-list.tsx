// What is proposed to a branch or by a person, those changed last first.
import { Trans } from '@lingui/react/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { DeploymentLine, PromotionLine } from '../../changes/change-line.tsx';
import { LineList } from '../../parts/blocks/line-list.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import styles from './list.module.css';
import { changesQuery, type ListedChange, type Scope } from './list-queries.ts';
import { RequestLine } from './request-line.tsx';
import type { ChangeKind, RequestsView } from './requests-view.ts';
import { useListWords } from './use-list-words.ts';

type RequestListProps = { scope: Scope; kinds: readonly ChangeKind[]; view: RequestsView; onClear: () => void };

export function RequestList({ scope, kinds, view, onClear }: RequestListProps) {
  const query = useInfiniteQuery(changesQuery(scope, view, kinds));
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = query;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  const isMine = 'created_by' in scope;
  const found = data.pages
    .flatMap(({ changes }) => changes)
    .map((each) => [`${each.kind} ${each.change.id}`, each] as const);
  if (found.length === 0) {
    if (view.q || view.state || view.kind) return <NoneFound view={view} onClear={onClear} />;
    return isMine ? <NoneMine /> : <NoneHere />;
  }
  // A page begins with what changed in the moment that the one before it ends with.
  const lines = [...new Map(found)].map(([id, each]) => ({ id, each }));
  return (
    <>
      <LineList items={lines}>{({ each }) => <ChangeLine listed={each} isBranchShown={isMine} />}</LineList>
      {hasNextPage && (
        <div className={styles.more}>
          <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            <Trans>Show more</Trans>
          </Button>
        </div>
      )}
    </>
  );
}

function ChangeLine({ listed, isBranchShown }: { listed: ListedChange; isBranchShown: boolean }) {
  switch (listed.kind) {
    case 'change_request':
      return <RequestLine request={listed.change} isBranchShown={isBranchShown} />;
    case 'promotion':
      return <PromotionLine promotion={listed.change} />;
    case 'deployment':
      return <DeploymentLine deployment={listed.change} isBranchShown={isBranchShown} />;
  }
}

function NoneFound({ view: { q, state: chosen }, onClear }: Pick<RequestListProps, 'view' | 'onClear'>) {
  const words = useListWords();
  const state = chosen && words.state[chosen];
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
          <Trans>No request is of this kind</Trans>
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
