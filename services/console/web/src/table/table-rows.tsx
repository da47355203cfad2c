// The rows of a table with what narrows them, how many there are, and the panel of one of them.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useMemo, useState } from 'react';
import type { Table } from '../api/queries.ts';
import { Grid } from '../grid/grid.tsx';
import { gridTexts } from '../grid/grid-texts.ts';
import type { RowQuery } from '../grid/row-source.ts';
import { localeOf } from '../language/language.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState, ErrorState } from '../parts/states.tsx';
import { RowCards } from './row-cards.tsx';
import { RowPanel } from './row-panel.tsx';
import styles from './table.module.css';
import { TableTools } from './table-tools.tsx';
import { useGridColumns } from './use-grid-columns.ts';
import { useIsNarrow } from './use-is-narrow.ts';
import { useView } from './use-view.ts';

type TableRowsProps = { table: Table; tables: Table[] };

export function TableRows({ table, tables }: TableRowsProps) {
  const { t, i18n } = useLingui();
  const { view, change } = useView();
  const [rowCount, setRowCount] = useState<number>();
  const [failure, setFailure] = useState<unknown>();
  const [generation, setGeneration] = useState(0);
  const isNarrow = useIsNarrow();
  const { q, asOf } = view;
  const query = useMemo<RowQuery>(
    () => ({ tableId: table.table_definition_id, q, asOf, generation }),
    [table, q, asOf, generation],
  );
  const columns = useGridColumns(table, query, view.filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the texts are those of the language.
  const texts = useMemo(gridTexts, [i18n.locale]);
  const load = () => {
    setFailure(undefined);
    setGeneration((before) => before + 1);
  };
  const loaded = (count: number) => {
    setRowCount(count);
    setFailure(undefined);
  };
  const count = rowCount === undefined ? '' : new Intl.NumberFormat(localeOf(i18n.locale)).format(rowCount);
  const isNarrowed = q !== undefined || Object.keys(view.filters).length > 0;
  const open = (row: number | undefined, step: 'kept' | 'replaced' = 'kept') => change({ row }, step);

  return (
    <>
      <TableTools view={view} onChange={change} onReload={load} />
      <div className={styles.body}>
        <div className={styles.rows}>
          {isNarrow ? (
            <RowCards table={table} query={query} view={view} onOpen={open} onLoaded={loaded} onFailed={setFailure} />
          ) : (
            <Grid
              label={t`Rows of ${table.name}`}
              columns={columns}
              texts={texts}
              query={query}
              filters={view.filters}
              sort={view.sort}
              openRow={view.row}
              onView={(shown) => change(shown, 'replaced')}
              onOpen={(id) => open(view.row === id ? undefined : id)}
              onFocusRow={(id) => view.row !== undefined && view.row !== id && open(id, 'replaced')}
              onLoaded={loaded}
              onFailed={setFailure}
            />
          )}
          {failure !== undefined && (
            <div className={styles.over}>
              <ErrorState error={failure} onRetry={load} />
            </div>
          )}
          {rowCount === 0 && failure === undefined && (
            <div className={styles.under}>
              <NoRows isNarrowed={isNarrowed} onClear={() => change({ q: undefined, filters: {} })} />
            </div>
          )}
        </div>
        {view.row !== undefined && (
          <RowPanel table={table} tables={tables} id={view.row} asOf={asOf} onClose={() => open(undefined)} />
        )}
      </div>
      <div className={styles.status} role="status">
        {rowCount === undefined ? (
          <Trans>Loading…</Trans>
        ) : (
          <Plural value={rowCount} one={`${count} row`} other={`${count} rows`} />
        )}
        {isNarrowed && rowCount !== undefined && <Trans>filtered</Trans>}
      </div>
    </>
  );
}

function NoRows({ isNarrowed, onClear }: { isNarrowed: boolean; onClear: () => void }) {
  if (!isNarrowed)
    return (
      <EmptyState title={<Trans>This table has no rows yet</Trans>}>
        <Trans>Rows come by imports and through the API.</Trans>
      </EmptyState>
    );
  return (
    <EmptyState
      title={<Trans>No row matches the search and the filters</Trans>}
      action={
        <Button onPress={onClear}>
          <Trans>Clear search and filters</Trans>
        </Button>
      }
    />
  );
}
