import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Bot, UserRound } from 'lucide-react';
import { peopleQuery } from '../../api/queries.ts';
import pageStyles from '../../parts/page.module.css';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';

/** The names of the people, for those who don't administer. */
export function NameList() {
  const { q = '' } = useSearch({ from: '/admin/people' });
  const { data: people, error, refetch } = useQuery(peopleQuery);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!people) return <Skeleton lines={8} />;
  const found = people.filter(({ name }) => name.toLowerCase().includes(q.trim().toLowerCase()));
  if (found.length === 0)
    return (
      <EmptyState
        title={<Trans>No person matches “{q}”</Trans>}
        action={
          <Link to="/admin/people" search={{}}>
            <Trans>Show all people</Trans>
          </Link>
        }
      />
    );
  return (
    <ul className={pageStyles.list}>
      {found.map(({ id, name, user_type, active }) => {
        const Icon = user_type === 'service' ? Bot : UserRound;
        return (
          <li key={id} className={pageStyles.line}>
            <Icon size={18} aria-hidden />
            <span className={pageStyles.name}>{name || <Trans>User {id}</Trans>}</span>
            <span className={pageStyles.end}>{!active && <Trans>not active</Trans>}</span>
          </li>
        );
      })}
    </ul>
  );
}
