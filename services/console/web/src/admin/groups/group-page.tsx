// One group: its rights and its members.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/form/confirm-dialog.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { type Group, groupsQuery } from '../queries.ts';
import { usePlaces } from '../rights/use-places.ts';
import { useIsAdministrator } from '../use-is-administrator.ts';
import { WhoAdministers } from '../who-administers.tsx';
import { GroupDialog } from './group-dialog.tsx';
import { Members } from './members.tsx';
import { RightsMatrix } from './rights-matrix.tsx';

export function GroupPage() {
  const { t } = useLingui();
  const id = Number(useParams({ from: '/admin/groups/$id' }).id);
  const { data: groups, error, refetch } = useQuery(groupsQuery);
  const group = groups?.find((group) => group.id === id);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!groups)
    return (
      <Page title={t`Group`}>
        <Skeleton lines={8} />
      </Page>
    );
  if (group) return <OpenGroup key={group.id} group={group} />;
  return (
    <EmptyState
      title={<Trans>There is no such group, or you may not see it</Trans>}
      action={
        <Link to="/admin/groups">
          <Trans>All groups</Trans>
        </Link>
      }
    />
  );
}

function OpenGroup({ group }: { group: Group }) {
  const isAdministrator = useIsAdministrator() ?? false;
  const [isSaved, setIsSaved] = useState(false);
  const { nameOf } = usePlaces();
  const origin =
    group.system && group.resource_type
      ? nameOf({
          resource_type: group.resource_type as Group['permissions'][number]['resource_type'],
          resource_id: group.resource_id ?? 0,
        })
      : undefined;
  return (
    <Page
      title={group.name}
      note={group.description ?? (origin && <Trans>It came with: {origin}</Trans>)}
      actions={isAdministrator && !group.system && <GroupActs group={group} />}
    >
      <WhoAdministers what={<Trans>Administrators change groups and who is in them.</Trans>} />
      {group.system && isAdministrator && (
        <Notice>
          <Trans>The rights of this group are fixed. For others, make a group of your own.</Trans>
        </Notice>
      )}
      {isSaved && (
        <Notice kind="done">
          <Trans>The rights are saved. They count within a second.</Trans>
        </Notice>
      )}
      <RightsMatrix
        key={group.permissions.map(({ id }) => id).join()}
        group={group}
        isFixed={group.system || !isAdministrator}
        onSaved={() => setIsSaved(true)}
      />
      <Members group={group} isAdministrator={isAdministrator} />
    </Page>
  );
}

function GroupActs({ group }: { group: Group }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const close = () => setOpened(undefined);
  const remove = useAct(() => client.delete('/user_groups/{id}', { params: { path: { id: group.id } } }), {
    changes: [['user_groups'], ['users'], ['explanations']],
    onDone: () => void navigate({ to: '/admin/groups' }),
  });
  return (
    <div className={pageStyles.tools}>
      <Button onPress={() => setOpened('edit')}>
        <Trans>Change…</Trans>
      </Button>
      <Button onPress={() => setOpened('delete')}>
        <Trans>Delete…</Trans>
      </Button>
      {opened === 'edit' && <GroupDialog group={group} onClose={close} onDone={close} />}
      {opened === 'delete' && (
        <ConfirmDialog
          label={t`Delete ${group.name}?`}
          submit={<Trans>Delete the group</Trans>}
          act={remove}
          onClose={close}
        >
          <Trans>Its members lose the rights that only it gave. This can’t be taken back.</Trans>
        </ConfirmDialog>
      )}
    </div>
  );
}
