import { Trans } from '@lingui/react/macro';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { Fact, Facts } from '../../parts/blocks/facts.tsx';
import { Time } from '../../parts/time.tsx';
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
    <Facts>
      {isService ? (
        <Fact name={<Trans>Kind</Trans>}>
          <Trans>Service user: programs act as it, with a refresh token. It never signs in.</Trans>
        </Fact>
      ) : (
        <>
          <Fact name={<Trans>E-mail</Trans>}>{user.email}</Fact>
          <Fact name={<Trans>Last sign-in</Trans>}>
            <LastSignIn userId={user.id} />
          </Fact>
        </>
      )}
      <Fact name={<Trans>Licence</Trans>}>
        {name}. {help}
      </Fact>
      <Fact name={<Trans>In the account since</Trans>}>
        <Time instant={user.created_at} />
      </Fact>
      <Fact name={<Trans>What they did</Trans>}>
        <Link to="/admin/audit" search={{ user: user.id }}>
          <Trans>In the audit log</Trans>
        </Link>
      </Fact>
    </Facts>
  );
}

function LastSignIn({ userId }: { userId: number }) {
  const { data, error } = useQuery(lastSignInQuery(userId));
  if (error) return <Trans>not known: the audit log did not load</Trans>;
  if (!data) return '…';
  const [last] = data.data;
  return last ? <Time instant={last.occurred_at} /> : <Trans>never</Trans>;
}
