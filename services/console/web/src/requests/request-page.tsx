// One change request, to read: what it would do to which table, and what has happened to it.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../api/client.ts';
import { changeRequestQuery } from '../api/queries.ts';
import pageStyles from '../parts/page.module.css';
import { Page } from '../parts/page.tsx';
import { Person } from '../parts/person.tsx';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { Operations } from './operations.tsx';
import styles from './request.module.css';
import { useRequestWords } from './request-words.ts';
import { countsOf } from './requests-page.tsx';

type ChangeRequest = Schemas['ChangeRequestDetails'];

export function RequestPage() {
  const { t } = useLingui();
  const id = Number(useParams({ from: '/requests/$id' }).id);
  const { data: request, error, refetch } = useQuery({ ...changeRequestQuery(id), enabled: Number.isSafeInteger(id) });
  if (!Number.isSafeInteger(id))
    return (
      <EmptyState
        title={<Trans>There is no such request</Trans>}
        action={
          <Link to="/requests">
            <Trans>All requests</Trans>
          </Link>
        }
      />
    );
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!request)
    return (
      <Page title={t`Change request ${id}`}>
        <Skeleton lines={8} />
      </Page>
    );
  return <OpenRequest request={request} />;
}

function OpenRequest({ request }: { request: ChangeRequest }) {
  const { status } = useRequestWords();
  const { name, style } = status[request.status];
  const [chosen, setChosen] = useState(request.table_definitions[0]?.id);
  const current = request.approvals.filter(({ is_current }) => is_current).length;
  const required = request.policy.required_approvals;
  return (
    <Page title={request.title} note={request.description}>
      <p className={styles.facts}>
        <span className={`${pageStyles.pill} ${style}`}>{name}</span>
        <span>
          #{request.id} · <Person id={request.created_by} /> · {request.branch.name}
        </span>
        <span>
          <Trans>
            changed <Time instant={request.updated_at} />
          </Trans>
        </span>
        <span>
          <Trans>
            {current} of {required} approvals
          </Trans>
        </span>
        {request.counts.with_problems > 0 && (
          <span className={styles.problem}>
            <Plural value={request.counts.with_problems} one="# row with a problem" other="# rows with problems" />
          </span>
        )}
      </p>
      {request.error && <p className={styles.problem}>{request.error}</p>}
      {chosen === undefined ? (
        <EmptyState title={<Trans>No row is changed yet</Trans>} />
      ) : (
        <div className={styles.layout}>
          <TableChoice tables={request.table_definitions} chosen={chosen} onChoose={setChosen} />
          <Operations key={chosen} request={request} tableId={chosen} />
        </div>
      )}
      <Story actions={request.actions} />
    </Page>
  );
}

type TableChoiceProps = { tables: ChangeRequest['table_definitions']; chosen: number; onChoose: (id: number) => void };

function TableChoice({ tables, chosen, onChoose }: TableChoiceProps) {
  const { t } = useLingui();
  return (
    <nav className={styles.tables} aria-label={t`Tables of the request`}>
      {tables.map((table) => (
        <button key={table.id} type="button" aria-pressed={table.id === chosen} onClick={() => onChoose(table.id)}>
          <span>{table.name}</span>
          <span className={styles.counts}>{countsOf(table)}</span>
        </button>
      ))}
    </nav>
  );
}

function Story({ actions }: { actions: ChangeRequest['actions'] }) {
  if (actions.length === 0) return null;
  return (
    <section className={pageStyles.section} style={{ marginTop: 32 }} aria-labelledby="story-title">
      <h2 id="story-title">
        <Trans>What has happened</Trans>
      </h2>
      <ol className={styles.actions}>
        {actions.map(({ action, user, comment, at }) => (
          <li key={`${at}:${action}`} className={styles.action}>
            <strong>{action.replaceAll('_', ' ')}</strong> · <Person id={user} /> · <Time instant={at} />
            {comment && <p>{comment}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}
