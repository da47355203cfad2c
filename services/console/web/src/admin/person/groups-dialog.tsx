import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { useAct } from '../../api/use-act.ts';
import { Form } from '../../parts/form/form.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import styles from '../admin.module.css';
import { GroupChoice } from '../people/group-choice.tsx';
import { nameOf } from '../people/people-view.ts';
import { useMemberships } from '../people/use-memberships.ts';
import type { Group, User } from '../queries.ts';

type GroupsDialogProps = { user: User; groups: Group[]; own: Group[]; onClose: () => void };

/** Changes the groups of a user, and says before it what changes. */
export function GroupsDialog({ user, groups, own, onClose }: GroupsDialogProps) {
  const { t } = useLingui();
  const name = nameOf(user);
  const [ticked, setTicked] = useState<ReadonlySet<number>>(() => new Set(own.map(({ id }) => id)));
  const changeMemberships = useMemberships();
  const joins = groups.filter(({ id }) => ticked.has(id) && !own.some((group) => group.id === id));
  const leaves = own.filter(({ id }) => !ticked.has(id));
  const save = useAct(
    () => {
      const toMembership = ({ id }: Group) => ({ userId: user.id, groupId: id });
      return changeMemberships(joins.map(toMembership), leaves.map(toMembership));
    },
    { changes: [], onDone: onClose },
  );
  const hasChanges = joins.length + leaves.length > 0;
  return (
    <ModalDialog label={t`Groups of ${name}`} onClose={onClose}>
      <Form
        error={save.error}
        isPending={save.isPending || !hasChanges}
        submit={<Trans>Save groups</Trans>}
        onCancel={onClose}
        onSubmit={() => save.mutate()}
      >
        <GroupChoice groups={groups} ticked={ticked} onChange={setTicked} />
        <div role="status" className={styles.changes}>
          {!hasChanges && <Trans>Nothing changes yet.</Trans>}
          {joins.map(({ id, name }) => (
            <p key={id}>
              <span className={styles.plus}>+</span> <Trans>joins {name}</Trans>
            </p>
          ))}
          {leaves.map(({ id, name }) => (
            <p key={id}>
              <span className={styles.minus}>−</span> <Trans>leaves {name}</Trans>
            </p>
          ))}
        </div>
      </Form>
    </ModalDialog>
  );
}
