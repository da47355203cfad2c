// The change requests: those that wait for this person, their own, and all of the branch.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useBranch } from '../address/use-branch.ts';
import { inboxQuery, meQuery } from '../api/queries.ts';
import { Page } from '../parts/page.tsx';
import { RestingSearchBox } from '../parts/search-box.tsx';
import { ErrorState, Skeleton } from '../parts/states.tsx';
import styles from './list/list.module.css';
import { RequestList } from './list/request-list.tsx';
import { type RequestsView, statuses } from './list/requests-view.ts';
import { ToReview } from './list/to-review.tsx';
import { useRequestWords } from './request-words.ts';

export function RequestsPage() {
  const { t } = useLingui();
  const view = useSearch({ from: '/requests' });
  const navigate = useNavigate({ from: '/requests' });
  const change = (part: RequestsView, replace = false) =>
    void navigate({ to: '.', search: (search) => ({ ...search, page: undefined, ...part }), replace });
  return (
    <Page
      title={t`Change requests`}
      note={<Scoped view={view} />}
      actions={
        <RestingSearchBox
          label={t`Search requests`}
          value={view.q ?? ''}
          onChange={(q) => change({ q: q.trim() || undefined }, true)}
        />
      }
    >
      <Tabs view={view} onStatus={(status) => change({ status })} />
      <Listed view={view} onClear={() => change({ q: undefined, status: undefined })} />
    </Page>
  );
}

/** Which requests these are. */
function Scoped({ view: { tab } }: { view: RequestsView }) {
  const { branch } = useBranch();
  if (tab === 'all') return branch && <Trans>of the branch {branch.name}</Trans>;
  return tab === 'mine' ? <Trans>by you, on all branches</Trans> : <Trans>that wait for you, on all branches</Trans>;
}

type TabsProps = { view: RequestsView; onStatus: (status: RequestsView['status']) => void };

function Tabs({ view, onStatus }: TabsProps) {
  const { t } = useLingui();
  const words = useRequestWords();
  const { data: inbox } = useQuery(inboxQuery);
  const waiting = inbox?.data.filter(({ reason }) => reason === 'approval').length ?? 0;
  const tabs: [RequestsView['tab'], string][] = [
    [undefined, t`To review`],
    ['mine', t`Mine`],
    ['all', t`All`],
  ];
  return (
    <nav className={styles.tabs} aria-label={t`Which requests`}>
      {tabs.map(([tab, name]) => (
        <Link
          key={name}
          to="/requests"
          search={({ branch, q }) => ({ branch, q, tab })}
          // Of the whole address: else the tab without a name would be a part of every other.
          activeOptions={{ exact: true }}
          activeProps={{}}
          aria-current={tab === view.tab ? 'true' : undefined}
        >
          {name}
          {tab === undefined && waiting > 0 && <span className={styles.count}>{waiting}</span>}
        </Link>
      ))}
      {view.tab && (
        <label className={styles.status}>
          <Trans>State</Trans>
          <select
            value={view.status ?? ''}
            onChange={({ target }) => onStatus(statuses.find((status) => status === target.value))}
          >
            <option value="">{t`all`}</option>
            {statuses.map((status) => (
              <option key={status} value={status}>
                {words.status[status].name}
              </option>
            ))}
          </select>
        </label>
      )}
    </nav>
  );
}

function Listed({ view, onClear }: { view: RequestsView; onClear: () => void }) {
  const { branch, error: branchError, retry } = useBranch();
  const { data: me, error: meError, refetch } = useQuery(meQuery);
  if (view.tab === undefined) return <ToReview q={view.q} onClear={onClear} />;
  if (view.tab === 'mine') {
    if (meError) return <ErrorState error={meError} onRetry={() => void refetch()} />;
    return me?.user ? (
      <RequestList scope={{ created_by: me.user.id }} view={view} onClear={onClear} />
    ) : (
      <Skeleton lines={8} />
    );
  }
  if (branchError) return <ErrorState error={branchError} onRetry={retry} />;
  return branch ? (
    <RequestList scope={{ branch_id: branch.id }} view={view} onClear={onClear} />
  ) : (
    <Skeleton lines={8} />
  );
}
