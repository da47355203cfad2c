// One row beside the table: its fields, its versions, and the rows that refer to it.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { type Row, rowQuery, type Table } from '../../api/queries.ts';
import { type CellFormats, cellFormats, plainText } from '../../cells/cell-text.ts';
import { deleteRows, shownRow } from '../../edits/edits.ts';
import type { Editing } from '../../edits/use-editing.ts';
import { localeOf } from '../../language/locale.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { RowFields } from './row-fields.tsx';
import { RowForm } from './row-form.tsx';
import { RowHistory } from './row-history.tsx';
import styles from './row-panel.module.css';
import { RowReferences } from './row-references.tsx';
import type { BringBack } from './use-bring-back.ts';

type RowPanelProps = {
  table: Table;
  tables: Table[];
  id: number;
  asOf: string | undefined;
  editing: Editing;
  bringBack: BringBack;
  onClose: () => void;
};

export function RowPanel({ table, tables, id, asOf, editing, bringBack, onClose }: RowPanelProps) {
  const { t, i18n } = useLingui();
  const formats = useMemo(() => cellFormats(localeOf(i18n.locale)), [i18n.locale]);
  const place = { tableId: table.table_definition_id, id };
  const { data: row, error, refetch } = useQuery(rowQuery(place, asOf));
  const keys = table.column_definitions.filter(({ is_primary_key }) => is_primary_key);
  const name = row && keys.length > 0 ? keys.map((column) => plainText(row[column.name])).join(' · ') : t`Row ${id}`;
  return (
    <aside
      className={styles.panel}
      aria-label={t`Row ${name}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <div className={styles.head}>
        <h2>{name}</h2>
        <Button kind="quiet" aria-label={t`Close the row`} onPress={onClose} data-close-panel>
          <X size={16} aria-hidden />
        </Button>
      </div>
      <Tabs className={styles.tabs as string}>
        <TabList className={styles.tabList as string} aria-label={t`About the row`}>
          <Tab id="fields" className={styles.tab as string}>
            <Trans>Fields</Trans>
          </Tab>
          <Tab id="history" className={styles.tab as string}>
            <Trans>History</Trans>
          </Tab>
          <Tab id="references" className={styles.tab as string}>
            <Trans>References</Trans>
          </Tab>
        </TabList>
        <TabPanel id="fields" className={styles.tabPanel as string}>
          {error ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : row ? (
            <>
              <EditableFields
                key={row.svc_sk}
                row={row}
                table={table}
                tables={tables}
                formats={formats}
                editing={editing}
              />
              {asOf !== undefined && editing.mayEdit && <BringBackButton bringBack={bringBack} row={row} />}
            </>
          ) : (
            <Skeleton />
          )}
        </TabPanel>
        <TabPanel id="history" className={styles.tabPanel as string}>
          <RowHistory
            place={place}
            table={table}
            formats={formats}
            onBringBack={editing.mayEdit ? (past) => bringBack.run([past]) : undefined}
          />
        </TabPanel>
        <TabPanel id="references" className={styles.tabPanel as string}>
          <RowReferences place={place} />
        </TabPanel>
      </Tabs>
    </aside>
  );
}

function BringBackButton({ bringBack, row }: { bringBack: BringBack; row: Row }) {
  return (
    <div className={styles.acts}>
      {bringBack.isSame && <Trans>Now the row is the same.</Trans>}
      <Button kind="primary" onPress={() => bringBack.run([row])}>
        <Trans>Bring back</Trans>
      </Button>
    </div>
  );
}

type EditableFieldsProps = Pick<RowPanelProps, 'table' | 'tables' | 'editing'> & { row: Row; formats: CellFormats };

/** The fields to read, with their edits; and as a form, where one may edit them. */
function EditableFields({ row, editing, ...rest }: EditableFieldsProps) {
  const [isOpen, setIsOpen] = useState(false);
  const { edited, canEdit } = editing;
  const edit = edited.edits.get(row.svc_sk);
  if (isOpen) return <RowForm row={row} editing={editing} onDone={() => setIsOpen(false)} {...rest} />;
  return (
    <>
      <RowFields row={shownRow(row, edit)} {...rest} />
      {edit && (
        <p className={styles.none}>
          {edit.kind === 'delete' ? (
            <Trans>This row is to be deleted.</Trans>
          ) : (
            <Trans>Changed, and not saved yet.</Trans>
          )}
        </p>
      )}
      {canEdit && edit?.kind !== 'delete' && (
        <div className={styles.acts}>
          <Button onPress={() => edited.change((edits) => deleteRows(edits, [row]))}>
            <Trans>Delete</Trans>
          </Button>
          <Button kind="primary" onPress={() => setIsOpen(true)}>
            <Trans>Edit</Trans>
          </Button>
        </div>
      )}
    </>
  );
}
