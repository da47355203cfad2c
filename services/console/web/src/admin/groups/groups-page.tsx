// The groups of the account: who is in them, and what they give.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { groupsQuery } from '../queries.ts';
import { usePlaces } from '../rights/use-places.ts';
import { useIsAdministrator } from '../use-is-administrator.ts';
import { WhoAdministers } from '../who-administers.tsx';
import { GroupDialog } from './group-dialog.tsx';
import { GroupList } from './group-list.tsx';

export function GroupsPage() {
  const { t } = useLingui();
  const isAdministrator = useIsAdministrator();
  const { q = '' } = useSearch({ from: '/admin/groups' });
  const navigate = useNavigate();
  const [isNew, setIsNew] = useState(false);
  const { data: groups, error, refetch } = useQuery(groupsQuery);
  const { kinds } = usePlaces();
  const found = groups?.filter(({ name }) => name.toLowerCase().includes(q.trim().toLowerCase()));
  const search = (typed: string) =>
    void navigate({ to: '/admin/groups', search: { q: typed || undefined }, replace: true });
  const titles = { account: t`Of the account`, domain: t`Of domains`, branch: t`Of branches`, table_definition: '' };
  return (
    <Page
      title={t`Groups`}
      actions={
        <div className={pageStyles.tools}>
          <SearchBox label={t`Search groups`} value={q} onChange={search} />
          {isAdministrator && (
            <Button kind="primary" onPress={() => setIsNew(true)}>
              <Trans>New group…</Trans>
            </Button>
          )}
        </div>
      }
    >
      <WhoAdministers what={<Trans>Administrators change groups and who is in them.</Trans>} />
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !found ? (
        <Skeleton lines={8} />
      ) : found.length === 0 ? (
        <EmptyState
          title={<Trans>No group matches “{q}”</Trans>}
          action={
            <Link to="/admin/groups" search={{}}>
              <Trans>Show all groups</Trans>
            </Link>
          }
        />
      ) : (
        <>
          <GroupList title={t`Custom groups`} groups={found.filter(({ system }) => !system)} />
          {kinds.map(({ id: kind }) => (
            <GroupList
              key={kind}
              title={titles[kind]}
              groups={found.filter(({ system, resource_type }) => system && resource_type === kind)}
            />
          ))}
        </>
      )}
      {isNew && (
        <GroupDialog
          onClose={() => setIsNew(false)}
          onDone={({ id }) => void navigate({ to: '/admin/groups/$id', params: { id: String(id) } })}
        />
      )}
    </Page>
  );
}
