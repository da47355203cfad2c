import { Trans, useLingui } from '@lingui/react/macro';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { TextField } from '../../parts/form/fields.tsx';
import { Form } from '../../parts/form/form.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import type { ChangeRequest } from '../queries.ts';

/** Changes the title and the description, while the request is a draft. */
export function EditDialog({ request, onClose }: { request: ChangeRequest; onClose: () => void }) {
  const { t } = useLingui();
  const save = useAct(
    ({ title, description }: { title: string; description: string }) =>
      client.patch('/change_requests/{id}', {
        params: { path: { id: request.id } },
        body: { change_request: { title, description: description.trim() || null } },
      }),
    { changes: [['change_requests'], ['inbox']], onDone: onClose },
  );
  return (
    <ModalDialog label={t`Title and description`} onClose={onClose}>
      <Form
        error={save.error}
        isPending={save.isPending}
        submit={<Trans>Save</Trans>}
        onCancel={onClose}
        onSubmit={({ title = '', description = '' }) => save.mutate({ title, description })}
      >
        <TextField
          name="title"
          label={<Trans>Title</Trans>}
          defaultValue={request.title}
          maxLength={255}
          autoFocus
          isRequired
        />
        <TextField
          name="description"
          label={<Trans>Description</Trans>}
          defaultValue={request.description ?? ''}
          maxLength={10_000}
          isLong
        />
      </Form>
    </ModalDialog>
  );
}
