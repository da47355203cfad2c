import { Trans, useLingui } from '@lingui/react/macro';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { MonitorSmartphone } from 'lucide-react';
import { useState } from 'react';
import { client, type Schemas, signIn } from '../api/client.ts';
import { all } from '../api/queries.ts';
import { useAct } from '../api/use-act.ts';
import { LineList } from '../parts/blocks/line-list.tsx';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/form/confirm-dialog.tsx';
import { Refusal } from '../parts/form/form.tsx';
import pageStyles from '../parts/page.module.css';
import { ErrorState, Skeleton } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { browserName } from './browser-name.ts';
import styles from './me.module.css';
import { currentSessionId, dropEdits } from './session.ts';

const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async ({ signal }) => {
    const [current, sessions] = await Promise.all([
      currentSessionId(signal),
      all(client.list('/me/sessions', { params: { query: { sort: '-created_at' } }, signal })),
    ]);
    return sessions.map((session) => ({ ...session, isCurrent: session.id === current }));
  },
});

/** The browsers in which one is signed in; each can be signed out, or all at once. */
export function SessionList() {
  const { t } = useLingui();
  const { data: sessions, error, refetch } = useQuery(sessionsQuery);
  const [isEndingAll, setIsEndingAll] = useState(false);
  const endAll = useAct(() => client.delete('/me/sessions'), {
    changes: [],
    onDone: () => {
      dropEdits();
      signIn();
    },
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!sessions) return <Skeleton lines={3} />;
  return (
    <>
      <LineList items={sessions}>{(session) => <SessionLine session={session} />}</LineList>
      {sessions.length > 1 && (
        <p className={styles.below}>
          <Button onPress={() => setIsEndingAll(true)}>
            <Trans>Sign out everywhere…</Trans>
          </Button>
        </p>
      )}
      {isEndingAll && (
        <ConfirmDialog
          label={t`Sign out everywhere?`}
          submit={<Trans>Sign out everywhere</Trans>}
          act={endAll}
          onClose={() => setIsEndingAll(false)}
        >
          <Trans>Here too. Applications that act for you go on.</Trans>
        </ConfirmDialog>
      )}
    </>
  );
}

function SessionLine({ session }: { session: Schemas['Session'] & { isCurrent: boolean } }) {
  const { t } = useLingui();
  const { id, user_agent, address, created_at, isCurrent } = session;
  const end = useAct(() => client.delete('/me/sessions/{id}', { params: { path: { id } } }), {
    changes: [['sessions']],
  });
  const name = browserName(user_agent) ?? t`A browser that is not known`;
  return (
    <>
      <div className={pageStyles.line}>
        <MonitorSmartphone size={18} aria-hidden />
        <span className={pageStyles.text}>
          <span className={pageStyles.name} title={user_agent ?? undefined}>
            {name}
          </span>{' '}
          {isCurrent && (
            <span className={`${pageStyles.pill} ${pageStyles.accent}`}>
              <Trans>this browser</Trans>
            </span>
          )}
          <span className={pageStyles.note}>
            <Trans>
              signed in <Time instant={created_at} />
            </Trans>
            {address && ` · ${address}`}
          </span>
        </span>
        {!isCurrent && (
          <Button aria-label={t`Sign out: ${name}`} onPress={() => end.mutate()} isDisabled={end.isPending}>
            <Trans>Sign out</Trans>
          </Button>
        )}
      </div>
      <Refusal error={end.error} />
    </>
  );
}
