import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAct } from '../../api/use-act.ts';
import { Form } from '../../parts/form/form.tsx';
import { TickList } from '../../parts/form/tick-list.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { addressOf, nameOf } from '../people/people-view.ts';
import { useMemberships } from '../people/use-memberships.ts';
import { type Group, usersQuery } from '../queries.ts';

/** Puts several people into a group. */
export function AddMembers({ group, onClose }: { group: Group; onClose: () => void }) {
  const { t } = useLingui();
  const { data: users, error, refetch } = useQuery(usersQuery);
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set());
  const changeMemberships = useMemberships();
  const others = (users ?? []).filter(({ id }) => !group.members.some((member) => member.id === id));
  const joining = others.filter(({ id }) => ticked.has(id));
  const add = useAct(
    () =>
      changeMemberships(
        joining.map(({ id }) => ({ userId: id, groupId: group.id })),
        [],
      ),
    {
      changes: [],
      onDone: onClose,
    },
  );
  return (
    <ModalDialog label={t`Add members to ${group.name}`} onClose={onClose}>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !users ? (
        <Skeleton lines={4} />
      ) : (
        <Form
          error={add.error}
          isPending={add.isPending || joining.length === 0}
          submit={<Plural value={joining.length} _0="Add members" one="Add # member" other="Add # members" />}
          onCancel={onClose}
          onSubmit={() => add.mutate()}
        >
          <TickList
            label={<Trans>People who aren’t in the group yet</Trans>}
            searchLabel={t`Search people`}
            items={others.map((user) => ({ id: user.id, name: nameOf(user), note: addressOf(user) }))}
            ticked={ticked}
            onChange={setTicked}
          />
        </Form>
      )}
    </ModalDialog>
  );
}
