import { useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { peopleQuery } from '../../api/queries.ts';
import { applicationsQuery } from '../queries.ts';
import { useIsAdministrator } from '../use-is-administrator.ts';
import { other } from './usage-sums.ts';
import type { Grouping } from './usage-view.ts';

/** Names the keys of sums: applications and people by their ids, the rest are names already. */
export function useSeriesNames(by: Grouping): (key: string) => string {
  const { t } = useLingui();
  const isAdministrator = useIsAdministrator() ?? false;
  const { data: people } = useQuery({ ...peopleQuery, enabled: by === 'person' });
  // Only administrators may read the names of applications.
  const { data: applications } = useQuery({ ...applicationsQuery, enabled: by === 'application' && isAdministrator });
  return (key) => {
    if (key === other) return t`all others`;
    if (key === '') return t`not known`;
    if (by === 'application') return applications?.find(({ id }) => String(id) === key)?.name ?? t`Application ${key}`;
    if (by === 'person') return people?.find(({ id }) => String(id) === key)?.name || t`User ${key}`;
    return key;
  };
}
