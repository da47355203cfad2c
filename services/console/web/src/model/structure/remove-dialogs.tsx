// Takes a column out of a draft, or the whole table away.
import { Trans, useLingui } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { ConfirmDialog } from '../../parts/form/confirm-dialog.tsx';
import { type DefinitionDetails, type DraftColumn, draftChanges } from '../definition/queries.ts';

type RemoveColumnProps = { column: DraftColumn; isDeployed: boolean; onClose: () => void };

export function RemoveColumn({ column: { id, name }, isDeployed, onClose }: RemoveColumnProps) {
  const { t } = useLingui();
  const remove = useAct(() => client.delete('/column_definitions/{id}', { params: { path: { id } } }), {
    changes: draftChanges,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      label={t`Remove ${name}?`}
      submit={<Trans>Remove it from the draft</Trans>}
      act={remove}
      onClose={onClose}
    >
      {isDeployed ? (
        <Trans>The table in service keeps the column and its values until the draft is deployed.</Trans>
      ) : (
        <Trans>It was never deployed, so nothing but the draft has it.</Trans>
      )}
    </ConfirmDialog>
  );
}

export function RemoveTable({ definition, onClose }: { definition: DefinitionDetails; onClose: () => void }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { id, name, deployed_version } = definition;
  const params = { path: { id: String(id) } };
  const isDeployed = deployed_version !== null;
  const remove = useAct(
    async () => {
      if (isDeployed) await client.post('/table_definitions/{id}/remove', { params });
      else await client.delete('/table_definitions/{id}', { params });
      // The page is left first: what it shows is not asked for again.
      await navigate({ to: '/tables' });
    },
    { changes: draftChanges },
  );
  return (
    <ConfirmDialog label={t`Remove ${name}?`} submit={<Trans>Remove the table</Trans>} act={remove} onClose={onClose}>
      {isDeployed ? (
        <Trans>
          The table goes out of service with its rows, and programs that use it fail. Within seven days the API can
          bring it back.
        </Trans>
      ) : (
        <Trans>The draft is deleted for good. It was never deployed, so there are no rows.</Trans>
      )}
    </ConfirmDialog>
  );
}
