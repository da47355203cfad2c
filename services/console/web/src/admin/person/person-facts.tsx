import { Trans } from '@lingui/react/macro';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { Time } from '../../parts/time.tsx';
import styles from '../admin.module.css';
import { usePeopleWords } from '../people/use-people-words.ts';
import type { User } from '../queries.ts';

// Users have no time of their last sign-in: the audit log knows it.
const lastSignInQuery = (userId: number) =>
  queryOptions({
    queryKey: ['audit_events', 'last_sign_in', userId],
    queryFn: ({ signal }) => {
      const q = [`user_id:eq:${userId}`, 'action:eq:login.succeeded'];
      return client.get('/audit_events', { params: { query: { q, per_page: 1 } }, signal });
    },
  });

export function PersonFacts({ user }: { user: User }) {
  const { license } = usePeopleWords();
  const isService = user.user_type === 'service';
  const { name, help } = license[user.license_type];
  return (
    <dl className={styles.facts}>
      {isService ? (
        <>
          <dt>
            <Trans>Kind</Trans>
          </dt>
          <dd>
            <Trans>Service user: programs act as it, with a refresh token. It never signs in.</Trans>
          </dd>
        </>
      ) : (
        <>
          <dt>
            <Trans>E-mail</Trans>
          </dt>
          <dd>{user.email}</dd>
          <dt>
            <Trans>Last sign-in</Trans>
          </dt>
          <dd>
            <LastSignIn userId={user.id} />
          </dd>
        </>
      )}
      <dt>
        <Trans>Licence</Trans>
      </dt>
      <dd>
        {name}. {help}
      </dd>
      <dt>
        <Trans>In the account since</Trans>
      </dt>
      <dd>
        <Time instant={user.created_at} />
      </dd>
      <dt>
        <Trans>What they did</Trans>
      </dt>
      <dd>
        <Link to="/admin/audit" search={{ user: user.id }}>
          <Trans>In the audit log</Trans>
        </Link>
      </dd>
    </dl>
  );
}

function LastSignIn({ userId }: { userId: number }) {
  const { data, error } = useQuery(lastSignInQuery(userId));
  if (error) return <Trans>not known: the audit log did not load</Trans>;
  if (!data) return '…';
  const [last] = data.data;
  return last ? <Time instant={last.occurred_at} /> : <Trans>never</Trans>;
}
