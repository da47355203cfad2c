import { useLingui } from '@lingui/react/macro';
import type { Table } from '../api/queries.ts';
import { ModalDialog } from '../parts/modal-dialog.tsx';
import { ExportForm } from './form/export-form.tsx';
import type { ExportedView } from './form/new-export.ts';

type ExportDialogProps = { table: Table; view: ExportedView; onClose: () => void };

/** Exports what one sees of a table: its rows after filters and search, in their order. */
export function ExportDialog({ table, view, onClose }: ExportDialogProps) {
  const { t } = useLingui();
  return (
    <ModalDialog label={t`Export ${table.name}`} onClose={onClose}>
      <ExportForm table={table} view={view} onClose={onClose} />
    </ModalDialog>
  );
}
