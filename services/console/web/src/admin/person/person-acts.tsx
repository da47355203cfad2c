// The acts on a user, each with its dialog.
import { Trans, useLingui } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/form/confirm-dialog.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import styles from '../admin.module.css';
import { nameOf } from '../people/people-view.ts';
import type { User } from '../queries.ts';
import { EditDialog } from './edit-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';

type PersonActsProps = { user: User; onDone: (done: string) => void };
type Opened = 'edit' | 'password' | 'deactivate' | 'delete';

const changes = [['users'], ['people'], ['user_groups'], ['explanations']];

export function PersonActs({ user, onDone }: PersonActsProps) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const path = { id: user.id };
  const name = nameOf(user);
  const setStatus = useAct(
    (status: 'active' | 'suspended') => client.patch('/users/{id}', { params: { path }, body: { user: { status } } }),
    {
      changes,
      onDone: (_, status) => {
        close();
        onDone(status === 'active' ? t`${name} is reactivated.` : t`${name} is deactivated.`);
      },
    },
  );
  const invite = useAct(() => client.post('/users/{id}/send_invitation', { params: { path } }), {
    changes,
    onDone: () => onDone(t`The invitation to ${user.email} is on its way.`),
  });
  const remove = useAct(() => client.delete('/users/{id}', { params: { path } }), {
    changes: [['people'], ['user_groups']],
    onDone: () => void navigate({ to: '/admin/people' }),
  });
  const finish = (done: string) => {
    close();
    onDone(done);
  };
  return (
    <div className={styles.stack} style={{ gap: 8 }}>
      <div className={pageStyles.tools}>
        <Button onPress={() => setOpened('edit')}>
          <Trans>Change…</Trans>
        </Button>
        {user.status === 'invited' && (
          <Button onPress={() => invite.mutate()} isDisabled={invite.isPending}>
            <Trans>Send the invitation again</Trans>
          </Button>
        )}
        {user.status === 'active' && user.user_type === 'person' && (
          <Button onPress={() => setOpened('password')}>
            <Trans>Set a password…</Trans>
          </Button>
        )}
        {user.status === 'suspended' ? (
          <Button kind="primary" onPress={() => setStatus.mutate('active')} isDisabled={setStatus.isPending}>
            <Trans>Reactivate</Trans>
          </Button>
        ) : (
          <Button onPress={() => setOpened('deactivate')}>
            <Trans>Deactivate…</Trans>
          </Button>
        )}
        <Button onPress={() => setOpened('delete')}>
          <Trans>Delete…</Trans>
        </Button>
      </div>
      {opened === undefined && <Refusal error={invite.error ?? setStatus.error} />}
      {opened === 'edit' && <EditDialog user={user} changes={changes} onClose={close} onDone={finish} />}
      {opened === 'password' && <PasswordDialog user={user} onClose={close} onDone={finish} />}
      {opened === 'deactivate' && (
        <ConfirmDialog
          label={t`Deactivate ${name}?`}
          submit={<Trans>Deactivate</Trans>}
          act={{ ...setStatus, mutate: () => setStatus.mutate('suspended') }}
          onClose={close}
        >
          <Trans>
            Their sessions and tokens end at once, and they get no mail. Their groups and what they have made stay. You
            can reactivate them.
          </Trans>
        </ConfirmDialog>
      )}
      {opened === 'delete' && (
        <ConfirmDialog label={t`Delete ${name}?`} submit={<Trans>Delete for good</Trans>} act={remove} onClose={close}>
          <Trans>
            Their sessions, tokens and memberships end at once. Histories and the audit log keep their number, but no
            longer their name. This can’t be taken back: to lock them out for a while, deactivate them.
          </Trans>
        </ConfirmDialog>
      )}
    </div>
  );
}
