import { Trans, useLingui } from '@lingui/react/macro';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { Time } from '../../parts/time.tsx';
import styles from '../admin.module.css';
import type { Application } from '../queries.ts';
import { type Scope, useScopeWords } from './use-scope-words.ts';

const callDays = 30;
const dayMs = 86_400_000;

const callsQuery = (applicationId: number) =>
  queryOptions({
    queryKey: ['usage', 'application', applicationId],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - (callDays - 1) * dayMs).toISOString().slice(0, 10);
      const query = { from, q: [`application_id:eq:${applicationId}`], per_page: 1000 };
      const { data, meta } = await client.get('/usage', { params: { query }, signal });
      return { calls: data.reduce((sum, { calls }) => sum + calls, 0), isAll: meta.total_pages <= 1 };
    },
  });

export function ApplicationFacts({ application }: { application: Application }) {
  const words = useScopeWords();
  const { client_id, scopes, redirect_uri, created_at, id } = application;
  return (
    <dl className={styles.facts}>
      <dt>
        <Trans>Client id</Trans>
      </dt>
      <dd className={styles.code}>{client_id}</dd>
      <dt>
        <Trans>What it may do</Trans>
      </dt>
      <dd>
        {scopes.split(' ').map((scope) => (
          <p key={scope}>
            {words[scope as Scope]?.name ?? scope}{' '}
            <span className={styles.help}>
              {words[scope as Scope]?.help} · <code>{scope}</code>
            </span>
          </p>
        ))}
      </dd>
      {redirect_uri && (
        <>
          <dt>
            <Trans>Where people come back to</Trans>
          </dt>
          <dd className={styles.code} style={{ whiteSpace: 'pre-line' }}>
            {redirect_uri}
          </dd>
        </>
      )}
      <dt>
        <Trans>Calls in 30 days</Trans>
      </dt>
      <dd>
        <Calls applicationId={id} />
      </dd>
      <dt>
        <Trans>Made</Trans>
      </dt>
      <dd>
        <Time instant={created_at} />
      </dd>
      <dt>
        <Trans>What it did</Trans>
      </dt>
      <dd>
        <Link to="/admin/audit" search={{ application: id }}>
          <Trans>In the audit log</Trans>
        </Link>
      </dd>
    </dl>
  );
}

function Calls({ applicationId }: { applicationId: number }) {
  const { i18n } = useLingui();
  const { data, error } = useQuery(callsQuery(applicationId));
  if (error) return <Trans>not known: the usage did not load</Trans>;
  if (!data) return '…';
  const { calls, isAll } = data;
  const count = i18n.number(calls);
  return isAll ? count : <Trans>more than {count}</Trans>;
}
