// What is reviewed: what waits for this person, what they propose, and all of the branch.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useBranch } from '../address/use-branch.ts';
import { inboxQuery, meQuery } from '../api/queries.ts';
import { Page } from '../parts/page.tsx';
import { RestingSearchBox } from '../parts/search-box.tsx';
import { ErrorState, Skeleton } from '../parts/states.tsx';
import styles from './list/list.module.css';
import { listedKinds } from './list/list-queries.ts';
import { RequestList } from './list/request-list.tsx';
import { type ChangeKind, listedStates, type RequestsView } from './list/requests-view.ts';
import { ToReview } from './list/to-review.tsx';
import { useListWords } from './list/use-list-words.ts';

export function RequestsPage() {
  const { t } = useLingui();
  const view = useSearch({ from: '/requests' });
  const navigate = useNavigate({ from: '/requests' });
  const change = (part: RequestsView, replace = false) =>
    void navigate({ to: '.', search: (search) => ({ ...search, ...part }), replace });
  const { data: me } = useQuery(meQuery);
  const kinds = listedKinds(me?.abilities.branching ?? false);
  return (
    <Page
      title={t`Requests`}
      note={<Scoped view={view} />}
      actions={
        <RestingSearchBox
          label={t`Search requests`}
          value={view.q ?? ''}
          onChange={(q) => change({ q: q.trim() || undefined }, true)}
        />
      }
    >
      <Tabs view={view} kinds={kinds} onKind={(kind) => change({ kind })} onState={(state) => change({ state })} />
      <Listed view={view} kinds={kinds} onClear={() => change({ q: undefined, kind: undefined, state: undefined })} />
    </Page>
  );
}

/** Which requests these are. */
function Scoped({ view: { tab } }: { view: RequestsView }) {
  const { branch } = useBranch();
  if (tab === 'all') return branch && <Trans>of the branch {branch.name}</Trans>;
  return tab === 'mine' ? <Trans>by you, on all branches</Trans> : <Trans>that wait for you, on all branches</Trans>;
}

type TabsProps = {
  view: RequestsView;
  kinds: readonly ChangeKind[];
  onKind: (kind: RequestsView['kind']) => void;
  onState: (state: RequestsView['state']) => void;
};

function Tabs({ view, kinds, onKind, onState }: TabsProps) {
  const { t } = useLingui();
  const words = useListWords();
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
        <div className={styles.chosen}>
          {kinds.length > 1 && (
            <Chosen name={t`Kind`} values={kinds} words={words.kind} value={view.kind} onChange={onKind} />
          )}
          <Chosen name={t`State`} values={listedStates} words={words.state} value={view.state} onChange={onState} />
        </div>
      )}
    </nav>
  );
}

type ChosenProps<T extends string> = {
  name: string;
  values: readonly T[];
  words: Record<T, string>;
  value: T | undefined;
  onChange: (value: T | undefined) => void;
};

function Chosen<T extends string>({ name, values, words, value, onChange }: ChosenProps<T>) {
  const { t } = useLingui();
  return (
    <label>
      {name}
      <select value={value ?? ''} onChange={({ target }) => onChange(values.find((one) => one === target.value))}>
        <option value="">{t`all`}</option>
        {values.map((one) => (
          <option key={one} value={one}>
            {words[one]}
          </option>
        ))}
      </select>
    </label>
  );
}

type ListedProps = { view: RequestsView; kinds: readonly ChangeKind[]; onClear: () => void };

function Listed({ view, kinds, onClear }: ListedProps) {
  const { branch, error: branchError, retry } = useBranch();
  const { data: me, error: meError, refetch } = useQuery(meQuery);
  if (view.tab === undefined) return <ToReview q={view.q} onClear={onClear} />;
  if (meError) return <ErrorState error={meError} onRetry={() => void refetch()} />;
  if (branchError) return <ErrorState error={branchError} onRetry={retry} />;
  if (!me || !branch) return <Skeleton lines={8} />;
  const scope = view.tab === 'mine' ? { created_by: me.user?.id ?? 0 } : { branch_id: branch.id };
  return <RequestList scope={scope} kinds={kinds} view={view} onClear={onClear} />;
}
