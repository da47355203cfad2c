import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { groupsQuery, type User } from '../queries.ts';
import { GroupChoice } from './group-choice.tsx';
import { LicenseField } from './license-field.tsx';
import { useMemberships } from './use-memberships.ts';

type InviteDialogProps = { onClose: () => void; onInvited: (email: string) => void };

/** Invites a person by mail, and puts them into groups. */
export function InviteDialog({ onClose, onInvited }: InviteDialogProps) {
  const { t } = useLingui();
  const { data: groups = [] } = useQuery(groupsQuery);
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set());
  const changeMemberships = useMemberships();
  // Where a group was refused, the person is invited already: the next attempt doesn't do it again.
  const invited = useRef<User>(undefined);
  const invite = useAct(
    async ({ email = '', first_name, last_name, license_type }: Record<string, string>) => {
      if (invited.current?.email.toLowerCase() !== email.trim().toLowerCase())
        invited.current = await client.post('/users', {
          body: { user: { email, first_name, last_name, license_type: license_type as User['license_type'] } },
        });
      const { id } = invited.current as User;
      const members = new Set(
        groups.filter(({ members }) => members.some((one) => one.id === id)).map((one) => one.id),
      );
      const joins = [...ticked].filter((groupId) => !members.has(groupId));
      await changeMemberships(
        joins.map((groupId) => ({ userId: id, groupId })),
        [],
      );
      return invited.current as User;
    },
    { changes: [['users'], ['people']], onDone: ({ email }) => onInvited(email) },
  );
  return (
    <FormDialog label={t`Invite a person`} submit={<Trans>Send invitation</Trans>} act={invite} onClose={onClose}>
      <TextField name="email" type="email" label={<Trans>E-mail</Trans>} autoComplete="off" autoFocus isRequired />
      <TextField name="first_name" label={<Trans>First name</Trans>} autoComplete="off" />
      <TextField name="last_name" label={<Trans>Last name</Trans>} autoComplete="off" />
      <GroupChoice groups={groups} ticked={ticked} onChange={setTicked} />
      <LicenseField />
    </FormDialog>
  );
}
