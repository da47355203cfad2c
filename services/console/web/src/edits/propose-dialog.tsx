import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import type { Table } from '../api/queries.ts';
import { useAct } from '../api/use-act.ts';
import { CheckField, TextField } from '../parts/form/fields.tsx';
import { Form } from '../parts/form/form.tsx';
import { ModalDialog } from '../parts/modal-dialog.tsx';
import type { Edits } from './edits.ts';
import { proposeRows } from './save-edits.ts';
import type { EditedTable } from './use-edits.ts';

type ProposeDialogProps = { table: Table; edited: EditedTable; onClose: () => void };
type Proposal = { title: string; comment: string; isSent: boolean };

/** Makes a change request of the edits, and sends it for review unless it has problems. */
export function ProposeDialog({ table, edited, onClose }: ProposeDialogProps) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { edits } = edited;
  const propose = useAct((proposal: Proposal) => makeRequest(table, edits, proposal), {
    changes: [['change_requests'], ['inbox']],
    onDone: (id) => {
      edited.settle();
      void navigate({ to: '/requests/$id', params: { id: String(id) } });
    },
  });
  return (
    <ModalDialog label={t`Propose changes`} onClose={onClose}>
      <Form
        error={propose.error}
        isPending={propose.isPending}
        submit={<Plural value={edits.size} one="Propose # row" other="Propose # rows" />}
        onCancel={onClose}
        onSubmit={({ title = '', comment = '', send }) => propose.mutate({ title, comment, isSent: send === 'on' })}
      >
        <TextField
          name="title"
          label={<Trans>Title</Trans>}
          help={<Trans>What this is about, for those who approve it</Trans>}
          maxLength={255}
          autoFocus
          isRequired
        />
        <TextField name="comment" label={<Trans>Reason</Trans>} isLong />
        <CheckField
          name="send"
          label={<Trans>Send for review now</Trans>}
          help={<Trans>Otherwise it stays a draft that only you see.</Trans>}
          isChecked
        />
      </Form>
    </ModalDialog>
  );
}

// A request that could not be filled is cancelled: it would lie among the drafts for ever.
async function makeRequest(table: Table, edits: Edits, { title, comment, isSent }: Proposal): Promise<number> {
  const description = comment.trim() === '' ? null : comment;
  const { id } = await client.post('/change_requests', {
    body: { branch_id: table.branch_id, change_request: { title, description } },
  });
  const params = { path: { id } };
  try {
    const problems = await proposeRows(id, table.table_definition_id, edits);
    if (isSent && problems.size === 0)
      await client.post('/change_requests/{id}/send_request', { params, body: { comment: description } });
  } catch (error) {
    await client.post('/change_requests/{id}/cancel', { params }).catch(() => undefined);
    throw error;
  }
  return id;
}
