import { Plural, useLingui } from '@lingui/react/macro';
import type { Table } from '../api/queries.ts';
import { Form } from '../parts/form/form.tsx';
import { ModalDialog } from '../parts/modal-dialog.tsx';
import { ProposalFields, readProposal, usePropose } from './proposal.tsx';
import { proposeRows } from './save-edits.ts';
import type { EditedTable } from './use-edits.ts';

type ProposeDialogProps = { table: Table; edited: EditedTable; onClose: () => void };

/** Makes a change request of the edits, and sends it for review unless it has problems. */
export function ProposeDialog({ table, edited, onClose }: ProposeDialogProps) {
  const { t } = useLingui();
  const { edits } = edited;
  const propose = usePropose(table, edited.settle);
  const fill = async (id: number) => (await proposeRows(id, table.table_definition_id, edits)).size;
  return (
    <ModalDialog label={t`Propose changes`} onClose={onClose}>
      <Form
        error={propose.error}
        isPending={propose.isPending}
        submit={<Plural value={edits.size} one="Propose # row" other="Propose # rows" />}
        onCancel={onClose}
        onSubmit={(typed) => propose.mutate({ fill, proposal: readProposal(typed) })}
      >
        <ProposalFields autoFocus />
      </Form>
    </ModalDialog>
  );
}
