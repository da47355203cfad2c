import { Trans, useLingui } from '@lingui/react/macro';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { TextField } from '../../parts/form/fields.tsx';
import { Form } from '../../parts/form/form.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import type { Domain } from '../definition/queries.ts';
import { DomainRefusal } from './domain-refusal.tsx';

type DomainDialogProps = {
  /** Unset for a new one. */
  domain?: Domain;
  onClose: () => void;
};

/** Makes a domain, or changes what it is called. */
export function DomainDialog({ domain, onClose }: DomainDialogProps) {
  const { t } = useLingui();
  const save = useAct(
    ({ name = '', abbreviation = '', description = '' }: Record<string, string>) => {
      const body = {
        domain: { name, abbreviation: abbreviation.trim() || null, description: description.trim() || null },
      };
      return domain
        ? client.patch('/domains/{id}', { params: { path: { id: domain.id } }, body })
        : client.post('/domains', { body });
    },
    { changes: [['domains'], ['tables'], ['table_definitions'], ['me'], ['user_groups']], onDone: onClose },
  );
  return (
    <ModalDialog label={domain ? t`Change ${domain.name}` : t`New domain`} onClose={onClose}>
      <DomainRefusal refusal={domain?.can_not?.update} onClose={onClose}>
        <Form
          error={save.error}
          isPending={save.isPending}
          submit={domain ? <Trans>Save</Trans> : <Trans>Make the domain</Trans>}
          onCancel={onClose}
          onSubmit={save.mutate}
        >
          <TextField
            name="name"
            label={<Trans>Name</Trans>}
            help={<Trans>A subject that tables belong to, and that people get rights on.</Trans>}
            defaultValue={domain?.name ?? ''}
            autoFocus
            isRequired
          />
          <TextField
            name="abbreviation"
            label={<Trans>Abbreviation</Trans>}
            help={<Trans>At most four characters.</Trans>}
            defaultValue={domain?.abbreviation ?? ''}
          />
          <TextField
            name="description"
            label={<Trans>Description</Trans>}
            defaultValue={domain?.description ?? ''}
            isLong
          />
        </Form>
      </DomainRefusal>
    </ModalDialog>
  );
}
