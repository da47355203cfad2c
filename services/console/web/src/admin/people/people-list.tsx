import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Bot, UserRound } from 'lucide-react';
import { LineList } from '../../parts/blocks/line-list.tsx';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import styles from '../admin.module.css';
import { type ChoiceLink, ChoiceLinks } from '../parts/choice-links.tsx';
import { groupsQuery, type User, usersQuery } from '../queries.ts';
import { addressOf, findPeople, nameOf, states } from './people-view.ts';
import { usePeopleWords } from './use-people-words.ts';

/** The people with their addresses, groups, licences and states, for administrators. */
export function PeopleList({ onInvite }: { onInvite: () => void }) {
  const { t } = useLingui();
  const view = useSearch({ from: '/admin/people' });
  const { status } = usePeopleWords();
  const { data: users, error, refetch } = useQuery(usersQuery);
  const { data: groups } = useQuery(groupsQuery);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!users) return <Skeleton lines={8} />;
  const groupsOf = (id: number) =>
    groups?.filter(({ members }) => members.some((member) => member.id === id)).map(({ name }) => name) ?? [];
  const found = findPeople(users, view, groupsOf);
  const count = (state?: User['status']) => findPeople(users, { ...view, state }, groupsOf).length;
  const choices = [undefined, ...states].map(
    (state): ChoiceLink => ({
      id: state ?? 'all',
      name: state ? status[state].name : t`all`,
      count: count(state),
      link: { to: '/admin/people', search: { ...view, state } },
    }),
  );
  return (
    <>
      <div className={styles.bar}>
        <ChoiceLinks label={t`State`} choices={choices} />
      </div>
      {found.length > 0 ? (
        <LineList items={found}>{(user) => <PersonLine user={user} groups={groupsOf(user.id)} />}</LineList>
      ) : (
        <EmptyState
          title={view.q ? <Trans>No person matches “{view.q}”</Trans> : <Trans>No person is in this state</Trans>}
          action={
            <>
              <Link to="/admin/people" search={{}}>
                <Trans>Show all people</Trans>
              </Link>
              <Button onPress={onInvite}>
                <Trans>Invite…</Trans>
              </Button>
            </>
          }
        />
      )}
    </>
  );
}

function PersonLine({ user, groups }: { user: User; groups: string[] }) {
  const { status, license } = usePeopleWords();
  const { name, style } = status[user.status];
  const isService = user.user_type === 'service';
  const Icon = isService ? Bot : UserRound;
  return (
    <Link to="/admin/people/$id" params={{ id: String(user.id) }} className={pageStyles.line}>
      <Icon size={18} aria-hidden />
      <span className={pageStyles.text}>
        <span className={pageStyles.name}>{nameOf(user)}</span>{' '}
        <span className={`${pageStyles.pill} ${style}`}>{name}</span>
        <span className={pageStyles.note}>
          {isService ? <Trans>service user</Trans> : addressOf(user)}
          {(isService || addressOf(user)) && ' · '}
          {groups.length > 0 ? groups.join(', ') : <Trans>in no group</Trans>}
        </span>
      </span>
      <span className={pageStyles.end}>{license[user.license_type].name}</span>
    </Link>
  );
}
