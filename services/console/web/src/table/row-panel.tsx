// One row beside the table: its fields, its versions, and the rows that refer to it.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useMemo } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { rowQuery, type Table } from '../api/queries.ts';
import { cellFormats, plainText } from '../cells/cell-text.ts';
import { localeOf } from '../language/language.ts';
import { Button } from '../parts/button.tsx';
import { ErrorState, Skeleton } from '../parts/states.tsx';
import { RowFields } from './row-fields.tsx';
import { RowHistory } from './row-history.tsx';
import styles from './row-panel.module.css';
import { RowReferences } from './row-references.tsx';

type RowPanelProps = { table: Table; tables: Table[]; id: number; asOf: string | undefined; onClose: () => void };

export function RowPanel({ table, tables, id, asOf, onClose }: RowPanelProps) {
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
            <RowFields row={row} table={table} tables={tables} formats={formats} />
          ) : (
            <Skeleton />
          )}
        </TabPanel>
        <TabPanel id="history" className={styles.tabPanel as string}>
          <RowHistory place={place} table={table} formats={formats} />
        </TabPanel>
        <TabPanel id="references" className={styles.tabPanel as string}>
          <RowReferences place={place} />
        </TabPanel>
      </Tabs>
    </aside>
  );
}
