// What is changed in all matches at once. Its dialog and its notice are loaded when one needs them.
import { lazy, Suspense, useState } from 'react';
import type { Table } from '../api/queries.ts';
import type { Editing } from '../edits/use-editing.ts';
import { withTexts } from '../language/texts.ts';
import type { Written } from './bulk/use-bulk-write.ts';
import type { ShownView } from './use-view.ts';

const BulkDialog = lazy(async () => ({
  default: (await withTexts(['table', 'bulk'], import('./bulk/bulk-dialog.tsx'))).BulkDialog,
}));
const BulkDone = lazy(async () => ({ default: (await withTexts(['bulk'], import('./bulk/bulk-done.tsx'))).BulkDone }));

type BulkChangesProps = {
  /** The dialog that is open. */
  opened: 'change' | 'delete' | undefined;
  table: Table;
  tables: readonly Table[];
  view: ShownView;
  editing: Editing;
  /** So many rows are written, or taken back. */
  onWritten: (rows: number) => void;
  onClose: () => void;
};

export function BulkChanges({ opened, view, editing, onWritten, onClose, ...props }: BulkChangesProps) {
  const [written, setWritten] = useState<Written & { isUndone?: boolean }>();
  const { saves, addSave, dropSave } = editing.edited;
  // Undo below the rows may have taken it back, too.
  const isShown = written && (written.isUndone || saves.some((ids) => ids.includes(written.requestId)));
  return (
    <Suspense>
      {isShown && (
        <BulkDone
          key={written.requestId}
          table={props.table}
          written={written}
          onUndone={() => {
            setWritten({ ...written, isUndone: true });
            dropSave(written.requestId);
            onWritten(written.count);
          }}
          onClose={() => setWritten(undefined)}
        />
      )}
      {opened && (
        <BulkDialog
          {...props}
          kind={opened}
          narrowing={{ q: view.q, filters: view.filters }}
          isPast={view.asOf !== undefined}
          editing={editing}
          onClose={onClose}
          onDone={(done) => {
            setWritten(done);
            addSave(done.requestId);
            onWritten(done.count);
            onClose();
          }}
        />
      )}
    </Suspense>
  );
}
