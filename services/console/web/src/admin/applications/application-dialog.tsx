import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import { CheckField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import type { Application } from '../queries.ts';
import { ScopeChoice } from './scope-choice.tsx';

type ApplicationDialogProps = {
  /** Unset for a new one. */
  application?: Application;
  onClose: () => void;
  onDone: (application: Application | Schemas['OauthApplicationWithSecret']) => void;
};

/** Makes an application, or changes one. */
export function ApplicationDialog({ application, onClose, onDone }: ApplicationDialogProps) {
  const { t } = useLingui();
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(application?.scopes.split(' ') ?? ['api:read']));
  const save = useAct(
    ({ name = '', redirect_uri = '', confidential }: Record<string, string>) => {
      const given = { name, redirect_uri, confidential: confidential === 'on', scopes: [...scopes].join(' ') };
      const body = { oauth_application: given };
      return application
        ? client.patch('/oauth_applications/{id}', { params: { path: { id: application.id } }, body })
        : client.post('/oauth_applications', { body });
    },
    { changes: [['oauth_applications']], onDone },
  );
  return (
    <FormDialog
      label={application ? t`Change ${application.name}` : t`New application`}
      submit={application ? <Trans>Save</Trans> : <Trans>Make the application</Trans>}
      act={save}
      onClose={onClose}
    >
      <TextField
        name="name"
        label={<Trans>Name</Trans>}
        help={<Trans>What it is, as people and the audit log will see it.</Trans>}
        defaultValue={application?.name ?? ''}
        autoFocus
        isRequired
      />
      <ScopeChoice ticked={scopes} onChange={setScopes} />
      <CheckField
        name="confidential"
        label={<Trans>It keeps a secret</Trans>}
        help={
          <Trans>It runs on a server of yours. Not for programs on people’s own machines or in their browsers.</Trans>
        }
        isChecked={application?.confidential ?? true}
      />
      <TextField
        name="redirect_uri"
        label={<Trans>Where people come back to</Trans>}
        help={
          <Trans>
            Only when people sign in through it: the addresses, one a line. With https, or on the own machine.
          </Trans>
        }
        defaultValue={application?.redirect_uri ?? ''}
        isLong
        isCode
      />
      {application && (
        <Notice kind="warning">
          <Trans>
            Fewer scopes count at once, also for tokens that were issued before. Without a secret of its own, its
            secrets and the refresh tokens of service users end.
          </Trans>
        </Notice>
      )}
    </FormDialog>
  );
}
