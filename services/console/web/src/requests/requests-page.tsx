// The change requests of the branch, those changed last first.
import { Trans, useLingui } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { GitPullRequestArrow } from 'lucide-react';
import { useState } from 'react';
import { useOfBranch } from '../address/use-branch.ts';
import type { Schemas } from '../api/client.ts';
import { changeRequestsQuery } from '../api/queries.ts';
import { Button } from '../parts/button.tsx';
import styles from '../parts/page.module.css';
import { Page } from '../parts/page.tsx';
import { Person } from '../parts/person.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { useRequestWords } from './request-words.ts';

type ChangeRequest = Schemas['ChangeRequest'];

export function RequestsPage() {
  const { t } = useLingui();
  const [typed, setTyped] = useState('');
  const { branch, data, error, retry } = useOfBranch(changeRequestsQuery);
  const found = data?.data.filter((request) => request.title.toLowerCase().includes(typed.trim().toLowerCase()));
  return (
    <Page
      title={t`Change requests`}
      note={branch && <Trans>of the branch {branch.name}</Trans>}
      actions={<SearchBox label={t`Filter requests`} value={typed} onChange={setTyped} />}
    >
      {error ? (
        <ErrorState error={error} onRetry={retry} />
      ) : !found ? (
        <Skeleton lines={8} />
      ) : found.length > 0 ? (
        <ul className={styles.list}>
          {found.map((request) => (
            <li key={request.id}>
              <RequestLine request={request} />
            </li>
          ))}
        </ul>
      ) : data?.data.length ? (
        <EmptyState
          title={<Trans>No request matches “{typed}”</Trans>}
          action={
            <Button onPress={() => setTyped('')}>
              <Trans>Show all requests</Trans>
            </Button>
          }
        />
      ) : (
        <EmptyState title={<Trans>No change has been requested here</Trans>}>
          <Trans>A change request proposes changes to rows, and others approve them before they are applied.</Trans>
        </EmptyState>
      )}
    </Page>
  );
}

function RequestLine({ request }: { request: ChangeRequest }) {
  const { status } = useRequestWords();
  const { name, style } = status[request.status];
  return (
    <Link to="/requests/$id" params={{ id: String(request.id) }} className={styles.line}>
      <GitPullRequestArrow size={18} aria-hidden />
      <span className={styles.text}>
        <span className={styles.name}>{request.title}</span> <span className={`${styles.pill} ${style}`}>{name}</span>
        <span className={styles.note}>
          #{request.id} · <Person id={request.created_by} />
          {request.table_definitions.map((table) => ` · ${table.name} ${countsOf(table)}`)}
        </span>
      </span>
      <span className={styles.end}>
        <Time instant={request.updated_at} />
      </span>
    </Link>
  );
}

/** `+12 ~340 −2`: what a request does to a table. */
export function countsOf({ created, updated, deleted }: Schemas['ChangeRequestTable']): string {
  const counts: [string, number][] = [
    ['+', created],
    ['~', updated],
    ['−', deleted],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([sign, count]) => `${sign}${count}`)
    .join(' ');
}
