import { Trans, useLingui } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { UserMinus, UserRound } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/form/confirm-dialog.tsx';
import pageStyles from '../../parts/page.module.css';
import styles from '../admin.module.css';
import { nameOf } from '../people/people-view.ts';
import { useMemberships } from '../people/use-memberships.ts';
import type { Group } from '../queries.ts';
import { AddMembers } from './add-members.tsx';

type Member = Group['members'][number];

export function Members({ group, isAdministrator }: { group: Group; isAdministrator: boolean }) {
  const [isAdding, setIsAdding] = useState(false);
  const [leaving, setLeaving] = useState<Member>();
  return (
    <section className={pageStyles.section} aria-labelledby="members-title">
      <div className={pageStyles.sectionHead}>
        <h2 id="members-title">
          <Trans>Members</Trans>
        </h2>
        {isAdministrator && (
          <Button onPress={() => setIsAdding(true)}>
            <Trans>Add members…</Trans>
          </Button>
        )}
      </div>
      {group.members.length > 0 ? (
        <ul className={pageStyles.list}>
          {group.members.map((member) => (
            <li key={member.id} className={pageStyles.line}>
              <UserRound size={18} aria-hidden />
              <MemberName member={member} isLink={isAdministrator} />
              {isAdministrator && <Leave member={member} onPress={() => setLeaving(member)} />}
            </li>
          ))}
        </ul>
      ) : (
        <p className={styles.help}>
          <Trans>It has no members yet.</Trans>
        </p>
      )}
      {isAdding && <AddMembers group={group} onClose={() => setIsAdding(false)} />}
      {leaving && <LeaveDialog group={group} member={leaving} onClose={() => setLeaving(undefined)} />}
    </section>
  );
}

function MemberName({ member, isLink }: { member: Member; isLink: boolean }) {
  const { t } = useLingui();
  const name = nameOf(member) || t`User ${member.id}`;
  if (!isLink) return <span className={pageStyles.name}>{name}</span>;
  return (
    <Link to="/admin/people/$id" params={{ id: String(member.id) }}>
      {name}
    </Link>
  );
}

function Leave({ member, onPress }: { member: Member; onPress: () => void }) {
  const { t } = useLingui();
  const name = nameOf(member);
  return (
    <Button kind="quiet" aria-label={t`Take ${name} out of the group`} onPress={onPress}>
      <UserMinus size={16} aria-hidden />
    </Button>
  );
}

function LeaveDialog({ group, member, onClose }: { group: Group; member: Member; onClose: () => void }) {
  const { t } = useLingui();
  const name = nameOf(member);
  const changeMemberships = useMemberships();
  const leave = useAct(() => changeMemberships([], [{ userId: member.id, groupId: group.id }]), {
    changes: [],
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      label={t`Take ${name} out of ${group.name}?`}
      submit={<Trans>Take them out</Trans>}
      act={leave}
      onClose={onClose}
    >
      <Trans>They lose the rights that only this group gave them, within a second.</Trans>
    </ConfirmDialog>
  );
}
