import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Table, tablesQuery } from '../../api/queries.ts';
import { SelectField } from '../../parts/form/fields.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import styles from '../exports.module.css';
import { ExportForm } from './export-form.tsx';

type NewExportDialogProps = { branchId: number; onClose: () => void };

/** Exports a table of the branch that one chooses. */
export function NewExportDialog({ branchId, onClose }: NewExportDialogProps) {
  const { t } = useLingui();
  const { data: tables, error, refetch } = useQuery(tablesQuery(branchId));
  return (
    <ModalDialog label={t`New export`} onClose={onClose}>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : tables ? (
        <ChosenTable tables={tables} onClose={onClose} />
      ) : (
        <Skeleton />
      )}
    </ModalDialog>
  );
}

function ChosenTable({ tables, onClose }: { tables: Table[]; onClose: () => void }) {
  const { t } = useLingui();
  const [table, setTable] = useState(tables[0]);
  const [isStarted, setIsStarted] = useState(false);
  if (table === undefined) return <EmptyState title={<Trans>There is no table that you may view</Trans>} />;
  return (
    <div className={styles.chosen}>
      {!isStarted && (
        <SelectField
          name="table"
          label={t`Table`}
          defaultValue={table.key}
          options={tables.map(({ key, name, domain }) => ({ id: key, name: `${name} · ${domain.name}` }))}
          onChange={(key) => setTable(tables.find((one) => one.key === key))}
        />
      )}
      {/* Another table has other columns. */}
      <ExportForm key={table.key} table={table} onStart={() => setIsStarted(true)} onClose={onClose} />
    </div>
  );
}
