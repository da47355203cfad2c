// Who is in the account. Administrators see addresses and states, and invite; all see names.
import { Trans, useLingui } from '@lingui/react/macro';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Skeleton } from '../../parts/states.tsx';
import { useIsAdministrator } from '../use-is-administrator.ts';
import { WhoAdministers } from '../who-administers.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { NameList } from './name-list.tsx';
import { PeopleList } from './people-list.tsx';

export function PeoplePage() {
  const { t } = useLingui();
  const isAdministrator = useIsAdministrator();
  const { q = '' } = useSearch({ from: '/admin/people' });
  const navigate = useNavigate({ from: '/admin/people' });
  const [isInviting, setIsInviting] = useState(false);
  const [invited, setInvited] = useState<string>();
  const search = (typed: string) =>
    void navigate({ search: (view) => ({ ...view, q: typed || undefined }), replace: true });
  return (
    <Page
      title={t`People`}
      actions={
        <div className={pageStyles.tools}>
          <SearchBox label={t`Search people`} value={q} onChange={search} />
          {isAdministrator && (
            <Button kind="primary" onPress={() => setIsInviting(true)}>
              <Trans>Invite…</Trans>
            </Button>
          )}
        </div>
      }
    >
      <WhoAdministers what={<Trans>Administrators invite people, and say what they may do.</Trans>} />
      {invited && (
        <Notice kind="done">
          <Trans>The invitation to {invited} is on its way. Its link is good for seven days.</Trans>
        </Notice>
      )}
      {isAdministrator === undefined ? (
        <Skeleton lines={8} />
      ) : isAdministrator ? (
        <PeopleList onInvite={() => setIsInviting(true)} />
      ) : (
        <NameList />
      )}
      {isInviting && (
        <InviteDialog
          onClose={() => setIsInviting(false)}
          onInvited={(email) => {
            setIsInviting(false);
            setInvited(email);
          }}
        />
      )}
    </Page>
  );
}
