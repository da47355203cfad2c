import { plural } from '@lingui/core/macro';
import { Plural, useLingui } from '@lingui/react/macro';
import type { Table } from '../api/queries.ts';
import { Form } from '../parts/form/form.tsx';
import { ModalDialog } from '../parts/modal-dialog.tsx';
import { ProposalFields, readProposal, usePropose } from './proposal.tsx';
import { proposeRows } from './save-edits.ts';
import type { EditedTable } from './use-edits.ts';

type ProposeDialogProps = { table: Table; edited: EditedTable; onClose: () => void };

/**
 * Makes a change request of the edits, and sends it for review unless others have changed the rows.
 * While a row breaks a rule none is proposed: the table keeps what was typed, with the reasons.
 */
export function ProposeDialog({ table, edited, onClose }: ProposeDialogProps) {
  const { t } = useLingui();
  const { edits } = edited;
  const propose = usePropose(table, edited.settle);
  const fill = async (id: number) => {
    const problems = await proposeRows(id, table.table_definition_id, edits);
    const broken = [...problems.values()].filter((some) => some.some(({ isConflict }) => !isConflict)).length;
    if (broken === 0) return problems.size;
    edited.refuse(problems);
    throw new Error(
      plural(broken, {
        one: 'Nothing was proposed: # row has a problem. The table shows it.',
        other: 'Nothing was proposed: # rows have problems. The table shows them.',
      }),
    );
  };
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
