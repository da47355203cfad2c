// Dialogs about saved views: a new one, its name, and its end.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ViewMembers } from '../../address/view.ts';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { ConfirmDialog } from '../../parts/form/confirm-dialog.tsx';
import { SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { noDifference } from './state/difference.ts';
import { stateOf } from './state/view-state.ts';
import { type View, type ViewDetails, viewQuery } from './view-queries.ts';
import { useSharingChoices } from './view-words.ts';

type Values = Record<string, string>;

type NewViewDialogProps = { tableId: number; shown: ViewMembers; onClose: () => void };

export function NewViewDialog({ tableId, shown, onClose }: NewViewDialogProps) {
  const { t } = useLingui();
  const queries = useQueryClient();
  const navigate = useNavigate({ from: '/t/$key' });
  const options = useSharingChoices();
  const create = useAct(
    ({ name = '', sharing }: Values) =>
      client.post('/views', {
        body: {
          table_definition_id: tableId,
          view: { name, sharing: sharing as View['sharing'], state: stateOf(shown) },
        },
      }),
    {
      changes: [['views', tableId]],
      onDone: (view) => {
        queries.setQueryData(viewQuery(view.id).queryKey, view);
        void navigate({ to: '.', search: (search) => ({ ...search, ...noDifference, view: view.id }) });
        onClose();
      },
    },
  );
  return (
    <FormDialog label={t`New view`} submit={<Trans>Save the view</Trans>} act={create} onClose={onClose}>
      <TextField
        name="name"
        label={<Trans>Name</Trans>}
        help={<Trans>It keeps the search, the filters, the order of rows and the columns that you see.</Trans>}
        maxLength={255}
        autoFocus
        isRequired
      />
      <SelectField name="sharing" label={<Trans>Who sees it</Trans>} options={options} />
    </FormDialog>
  );
}

type ViewDialogProps = { view: ViewDetails; onClose: () => void };

export function RenameViewDialog({ view, onClose }: ViewDialogProps) {
  const { t } = useLingui();
  const rename = useAct(
    ({ name = '' }: Values) =>
      client.patch('/views/{id}', { params: { path: { id: view.id } }, body: { view: { name } } }),
    { changes: [['views']], onDone: onClose },
  );
  return (
    <FormDialog label={t`Rename ${view.name}`} submit={<Trans>Rename</Trans>} act={rename} onClose={onClose}>
      <TextField
        name="name"
        label={<Trans>Name</Trans>}
        defaultValue={view.name}
        maxLength={255}
        autoFocus
        isRequired
      />
    </FormDialog>
  );
}

export function DeleteViewDialog({ view, onClose }: ViewDialogProps) {
  const { t } = useLingui();
  const queries = useQueryClient();
  const navigate = useNavigate({ from: '/t/$key' });
  const remove = useAct(
    async () => {
      await client.delete('/views/{id}', { params: { path: { id: view.id } } });
      // The view is left first: it is not asked for again.
      await navigate({ to: '.', search: (search) => ({ ...search, ...noDifference, view: 'all' as const }) });
      queries.removeQueries({ queryKey: viewQuery(view.id).queryKey });
    },
    { changes: [['views', view.table_definition_id]], onDone: onClose },
  );
  return (
    <ConfirmDialog
      label={t`Delete ${view.name}?`}
      submit={<Trans>Delete the view</Trans>}
      act={remove}
      onClose={onClose}
    >
      <p>
        {view.sharing !== 'private' && <Trans>All who see the table lose it.</Trans>}{' '}
        <Trans>The rows stay as they are. This can’t be taken back.</Trans>
      </p>
    </ConfirmDialog>
  );
}
