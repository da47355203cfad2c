// Copies tables of the parent to a branch. They are drafts there until they are deployed.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import type { Definition, Table } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { CheckField } from '../../parts/form/fields.tsx';
import { Form } from '../../parts/form/form.tsx';
import { TickList } from '../../parts/form/tick-list.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import { referencedFirst } from './copy-order.ts';

type CopyTablesDialogProps = {
  branch: { id: number; name: string };
  /** Those of the parent that the branch doesn't have. */
  definitions: readonly Definition[];
  /** The tables of the parent as they are deployed, with their references. */
  deployed: readonly Table[];
  onClose: () => void;
};

export function CopyTablesDialog({ branch, definitions, deployed, onClose }: CopyTablesDialogProps) {
  const { t } = useLingui();
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set());
  const copy = useAct(
    async ({ rows }: Record<string, string>) => {
      const body = { target_branch_id: branch.id, include_data: rows === 'on' };
      for (const id of referencedFirst([...ticked], deployed)) {
        await client.post('/table_definitions/{id}/clone', { params: { path: { id: String(id) } }, body });
        // After a refusal the next attempt is of the others.
        setTicked((before) => new Set([...before].filter((one) => one !== id)));
      }
    },
    { changes: [['tables']], onDone: onClose },
  );
  return (
    <ModalDialog label={t`Copy tables to ${branch.name}`} onClose={onClose}>
      <Form
        error={copy.error}
        isPending={copy.isPending || ticked.size === 0}
        submit={<Plural value={ticked.size} one="Copy # table" other="Copy # tables" />}
        onCancel={onClose}
        onSubmit={copy.mutate}
      >
        <TickList
          label={<Trans>Tables</Trans>}
          searchLabel={t`Search tables`}
          items={definitions.map(({ id, name, domain }) => ({ id, name, section: domain.name }))}
          ticked={ticked}
          onChange={setTicked}
        />
        <CheckField
          name="rows"
          label={<Trans>With their rows</Trans>}
          help={<Trans>They get them when they are deployed. Deploy tables that refer to each other together.</Trans>}
          isChecked
        />
      </Form>
    </ModalDialog>
  );
}
