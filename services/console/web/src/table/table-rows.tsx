// The rows of a table with what narrows and changes them, and the panel of one of them.
import { useLingui } from '@lingui/react/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import type { Row, Table } from '../api/queries.ts';
import { addRows, deleteRows, nextRowId, setCells, shownRow } from '../edits/edits.ts';
import { usePlannedEdits } from '../edits/planned/use-planned-edits.ts';
import type { Saved } from '../edits/save-edits.ts';
import { useEditing } from '../edits/use-editing.ts';
import { Grid, type GridHandle } from '../grid/grid.tsx';
import { gridTexts } from '../grid/grid-texts.ts';
import type { RowQuery } from '../grid/rows/row-source.ts';
import { handFile } from '../imports/wizard/handed-file.ts';
import { withTexts } from '../language/texts.ts';
import { ErrorState } from '../parts/states.tsx';
import { BulkChanges } from './bulk-changes.tsx';
import { useChangedElsewhere } from './changed-elsewhere.tsx';
import { NoRows } from './no-rows.tsx';
import { useBringBack } from './row/use-bring-back.ts';
import styles from './table.module.css';
import { TableEdits } from './table-edits.tsx';
import { TableTools } from './table-tools.tsx';
import { useGridColumns } from './use-grid-columns.ts';
import { useIsNarrow } from './use-is-narrow.ts';
import { useView } from './use-view.ts';
import { ViewBar } from './views/view-bar.tsx';

const RowPanel = lazy(async () => ({ default: (await import('./row/row-panel.tsx')).RowPanel }));
const RowCards = lazy(async () => ({ default: (await import('./row-cards.tsx')).RowCards }));
const ExportDialog = lazy(async () => ({
  default: (await withTexts(['files'], import('../exports/export-dialog.tsx'))).ExportDialog,
}));
const CurlDialog = lazy(async () => ({ default: (await import('./curl/curl-dialog.tsx')).CurlDialog }));

type TableRowsProps = { table: Table; tables: Table[]; userId: number };

export function TableRows({ table, tables, userId }: TableRowsProps) {
  const { t, i18n } = useLingui();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const open = useView(table);
  const { view, change, chosen } = open;
  const [rowCount, setRowCount] = useState<number>();
  const [failure, setFailure] = useState<unknown>();
  const [generation, setGeneration] = useState(0);
  const [dialog, setDialog] = useState<'export' | 'curl' | 'change' | 'delete'>();
  const [selected, setSelected] = useState<Row[]>([]);
  const [enteredRow, setEnteredRow] = useState<number>();
  const [rangeCells, setRangeCells] = useState(0);
  const [cell, setCell] = useState<{ row: Row; column: string }>();
  const grid = useRef<GridHandle>(null);
  const isNarrow = useIsNarrow();
  const { q, asOf } = view;
  const tableId = table.table_definition_id;
  const query = useMemo<RowQuery>(() => ({ tableId, q, asOf, generation }), [tableId, q, asOf, generation]);

  const elsewhere = useChangedElsewhere(tableId);
  const showWritten = (isMoved: boolean) => {
    void queries.invalidateQueries({ queryKey: ['rows', tableId] });
    if (!isMoved) return;
    grid.current?.reload();
    grid.current?.clearSelection();
  };
  const onSaved = (saved: Saved | 'undone') => {
    elsewhere.wrote(saved === 'undone' ? 'any' : saved.done.size);
    if (saved !== 'undone') grid.current?.write(writtenRows(saved));
    // New and deleted rows move all others.
    showWritten(saved === 'undone' || [...saved.done.values()].some(({ kind }) => kind !== 'update'));
  };
  const onBulkWritten = (rows: number) => {
    elsewhere.wrote(rows);
    showWritten(true);
  };
  const editing = useEditing({ table, userId, isPast: asOf !== undefined, onSaved });
  const { edited, look, canEdit } = editing;
  const columns = useGridColumns(table, tables, look, query, view.filters);
  const columnNames = useMemo(() => columns.map(({ colId = '' }) => colId), [columns]);
  const bringBack = useBringBack(table, editing, () => change({ asOf: undefined }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the texts are those of the language.
  const texts = useMemo(gridTexts, [i18n.locale]);
  const looks = useMemo(
    () => ({ edits: edited.edits, problems: edited.problems, canEdit }),
    [edited.edits, edited.problems, canEdit],
  );
  const importFile = (file: File) => {
    handFile(file);
    void navigate({ to: '/import', search: { table: table.key, step: 'columns' } });
  };
  const planning = usePlannedEdits({
    ...{ table, tables, query, view, edited, look },
    loaded: (range) => grid.current?.rowsAt(range) ?? [],
    onLong: importFile,
  });

  const load = () => {
    setFailure(undefined);
    elsewhere.clear();
    setGeneration((before) => before + 1);
  };
  const showChanged = () => {
    elsewhere.clear();
    grid.current?.reload();
    void queries.invalidateQueries({ queryKey: ['rows', tableId] });
  };
  const loaded = (count: number) => {
    setRowCount(count);
    setFailure(undefined);
  };
  const isNarrowed = q !== undefined || Object.keys(view.filters).length > 0;
  const openRow = (row: number | undefined, step: 'kept' | 'replaced' = 'kept') => change({ row }, step);
  const add = () => {
    edited.change((edits) => addRows(edits, [{}]));
    setEnteredRow(nextRowId(edited.edits));
  };
  const remove = (rows: readonly Row[]) => canEdit && edited.change((edits) => deleteRows(edits, rows));

  return (
    <>
      <ViewBar table={table} userId={userId} open={open} />
      <TableTools
        view={view}
        columnNames={columnNames}
        onChange={change}
        onReload={load}
        changedElsewhere={asOf === undefined ? elsewhere.count : 0}
        onShowChanged={showChanged}
        onExport={() => setDialog('export')}
        onShowCurl={() => setDialog('curl')}
        onBulk={setDialog}
        onAdd={canEdit && !isNarrow ? add : undefined}
      />
      <BulkChanges
        opened={dialog === 'change' || dialog === 'delete' ? dialog : undefined}
        table={table}
        tables={tables}
        view={view}
        editing={editing}
        onWritten={onBulkWritten}
        onClose={() => setDialog(undefined)}
      />
      <div className={styles.body}>
        <section
          className={styles.rows}
          aria-label={t`Rows`}
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            const [file] = event.dataTransfer.files;
            if (file) importFile(file);
          }}
        >
          {isNarrow ? (
            <Suspense>
              <RowCards
                table={table}
                query={query}
                view={view}
                isWaiting={!chosen.isSettled}
                edits={edited.edits}
                onOpen={openRow}
                onLoaded={loaded}
                onFailed={setFailure}
              />
            </Suspense>
          ) : (
            <Grid
              label={t`Rows of ${table.name}`}
              columns={columns}
              texts={texts}
              query={chosen.isSettled ? query : undefined}
              filters={view.filters}
              sort={view.sort}
              layout={view.columns}
              openRow={view.row}
              newRows={editing.added}
              enteredRow={enteredRow}
              look={looks}
              onReady={(handle) => {
                grid.current = handle;
              }}
              onView={(shown) => change(shown, 'replaced')}
              onLayout={(layout) => change({ columns: layout }, 'replaced')}
              onOpen={(id) => id > 0 && openRow(view.row === id ? undefined : id)}
              onFocusRow={(id) => view.row !== undefined && view.row !== id && openRow(id, 'replaced')}
              onFocusCell={setCell}
              onSelect={setSelected}
              onEnter={(row, column, entered) =>
                edited.change((edits) => setCells(edits, [{ row, column, ...entered }]))
              }
              onPaste={(text, target) => canEdit && planning.paste(text, target)}
              onFill={planning.fill}
              onClear={(range) => canEdit && planning.clear(range)}
              onCopy={planning.copy}
              onRange={setRangeCells}
              canEdit={canEdit}
              onDelete={remove}
              onLoaded={loaded}
              onFailed={setFailure}
            />
          )}
          {failure !== undefined && (
            <div className={styles.over}>
              <ErrorState error={failure} onRetry={load} />
            </div>
          )}
          {rowCount === 0 && failure === undefined && editing.added.length === 0 && (
            <div className={styles.under}>
              <NoRows isNarrowed={isNarrowed} onClear={() => change({ q: undefined, filters: {} })} />
            </div>
          )}
        </section>
        {view.row !== undefined && (
          <Suspense>
            <RowPanel
              table={table}
              tables={tables}
              id={view.row}
              asOf={asOf}
              editing={editing}
              bringBack={bringBack}
              onClose={() => openRow(undefined)}
            />
          </Suspense>
        )}
      </div>
      <Suspense>
        {dialog === 'export' && <ExportDialog table={table} view={view} onClose={() => setDialog(undefined)} />}
        {dialog === 'curl' && <CurlDialog tableId={tableId} view={view} onClose={() => setDialog(undefined)} />}
      </Suspense>
      <TableEdits
        table={table}
        rowCount={rowCount}
        isNarrowed={isNarrowed}
        isPast={asOf !== undefined}
        editing={editing}
        planning={planning}
        rangeCells={rangeCells}
        bringBack={bringBack}
        selected={selected}
        onDelete={() => remove(selected)}
        onGo={isNarrow ? undefined : (row) => grid.current?.goTo(row - 1)}
        problem={cell && look.problem(cell.row, cell.column)}
      />
    </>
  );
}

/** The rows that were written, with what their references show. */
function writtenRows({ records, done }: Saved): Row[] {
  return [...records].map(([id, record]) => {
    const edit = done.get(id);
    const lookups = edit?.before && shownRow(edit.before, edit).svc_lookups;
    return lookups ? { ...record, svc_lookups: lookups } : record;
  });
}
