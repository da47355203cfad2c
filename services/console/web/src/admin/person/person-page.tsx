// One user: who they are, in which groups, what they may do and why, and the acts on them.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import styles from '../admin.module.css';
import { nameOf } from '../people/people-view.ts';
import { usePeopleWords } from '../people/use-people-words.ts';
import { groupsQuery, type User, userQuery } from '../queries.ts';
import { useIsAdministrator } from '../use-is-administrator.ts';
import { ForAdministrators } from '../who-administers.tsx';
import { Explain } from './explain.tsx';
import { GivenRights } from './given-rights.tsx';
import { GroupsDialog } from './groups-dialog.tsx';
import { PersonActs } from './person-acts.tsx';
import { PersonFacts } from './person-facts.tsx';

export function PersonPage() {
  const { t } = useLingui();
  const id = Number(useParams({ from: '/admin/people/$id' }).id);
  const isAdministrator = useIsAdministrator();
  const {
    data: user,
    error,
    refetch,
  } = useQuery({ ...userQuery(id), enabled: Boolean(isAdministrator) && Number.isSafeInteger(id) });
  if (!Number.isSafeInteger(id))
    return (
      <EmptyState
        title={<Trans>There is no such person</Trans>}
        action={
          <Link to="/admin/people">
            <Trans>All people</Trans>
          </Link>
        }
      />
    );
  if (isAdministrator === false)
    return <ForAdministrators page={t`Person`} reason={<Trans>Only administrators see a person here</Trans>} />;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!user)
    return (
      <Page title={t`User ${id}`}>
        <Skeleton lines={8} />
      </Page>
    );
  return <OpenPerson user={user} />;
}

function OpenPerson({ user }: { user: User }) {
  const { status } = usePeopleWords();
  const { data: groups, error, refetch } = useQuery(groupsQuery);
  const [isChoosing, setIsChoosing] = useState(false);
  const [done, setDone] = useState<string>();
  const name = nameOf(user);
  const state = status[user.status];
  const own = groups?.filter(({ members }) => members.some(({ id }) => id === user.id));
  return (
    <Page
      title={name}
      note={<span className={`${pageStyles.pill} ${state.style}`}>{state.name}</span>}
      actions={<PersonActs user={user} onDone={setDone} />}
    >
      {done && <Notice kind="done">{done}</Notice>}
      <section className={pageStyles.section} aria-label={name}>
        <PersonFacts user={user} />
      </section>
      <section className={pageStyles.section} aria-labelledby="groups-title">
        <div className={pageStyles.sectionHead}>
          <h2 id="groups-title">
            <Trans>Groups and what they give</Trans>
          </h2>
          <Button onPress={() => setIsChoosing(true)} isDisabled={!groups}>
            <Trans>Change groups…</Trans>
          </Button>
        </div>
        {error ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : own && groups ? (
          <>
            <p className={styles.help}>
              {own.length > 0 ? own.map(({ name }) => name).join(' · ') : <Trans>They are in no group.</Trans>}
            </p>
            <GivenRights groups={groups} userId={user.id} />
          </>
        ) : (
          <Skeleton lines={3} />
        )}
      </section>
      <section className={pageStyles.section} aria-labelledby="explain-title">
        <h2 id="explain-title">
          <Trans>Why may they, or why not?</Trans>
        </h2>
        <Explain userId={user.id} name={name} />
      </section>
      {isChoosing && groups && own && (
        <GroupsDialog user={user} groups={groups} own={own} onClose={() => setIsChoosing(false)} />
      )}
    </Page>
  );
}
