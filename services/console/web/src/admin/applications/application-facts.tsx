import { Trans, useLingui } from '@lingui/react/macro';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { Fact, Facts } from '../../parts/blocks/facts.tsx';
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
    <Facts>
      <Fact name={<Trans>Client id</Trans>}>
        <span className={styles.code}>{client_id}</span>
      </Fact>
      <Fact name={<Trans>What it may do</Trans>}>
        {scopes.split(' ').map((scope) => (
          <p key={scope}>
            {words[scope as Scope]?.name ?? scope}{' '}
            <span className={styles.help}>
              {words[scope as Scope]?.help} · <code>{scope}</code>
            </span>
          </p>
        ))}
      </Fact>
      {redirect_uri && (
        <Fact name={<Trans>Where people come back to</Trans>}>
          <span className={styles.code} style={{ whiteSpace: 'pre-line' }}>
            {redirect_uri}
          </span>
        </Fact>
      )}
      <Fact name={<Trans>Calls in 30 days</Trans>}>
        <Calls applicationId={id} />
      </Fact>
      <Fact name={<Trans>Made</Trans>}>
        <Time instant={created_at} />
      </Fact>
      <Fact name={<Trans>What it did</Trans>}>
        <Link to="/admin/audit" search={{ application: id }}>
          <Trans>In the audit log</Trans>
        </Link>
      </Fact>
    </Facts>
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
