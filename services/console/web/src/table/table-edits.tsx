// Below the rows: how many there are, which are selected, and what is changed and not saved.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { Row, Table } from '../api/queries.ts';
import { cellFormats } from '../cells/cell-text.ts';
import { EditBar } from '../edits/edit-bar.tsx';
import editStyles from '../edits/edits.module.css';
import type { Planning } from '../edits/planned/use-planned-edits.ts';
import { useEditKeys } from '../edits/use-edit-keys.ts';
import type { Editing } from '../edits/use-editing.ts';
import { localeOf } from '../language/locale.ts';
import { Button } from '../parts/button.tsx';
import { GoToRow } from './go-to-row.tsx';
import { type BringBack, mostBroughtBack } from './row/use-bring-back.ts';
import styles from './table.module.css';

const EditsReview = lazy(async () => ({ default: (await import('../edits/edits-review.tsx')).EditsReview }));
const ProposeDialog = lazy(async () => ({ default: (await import('../edits/propose-dialog.tsx')).ProposeDialog }));
const PlanDialog = lazy(async () => ({ default: (await import('../edits/planned/plan-dialog.tsx')).PlanDialog }));

/** So many rows need no way to one of them. */
const seenAtOnce = 50;

type TableEditsProps = {
  table: Table;
  rowCount: number | undefined;
  isNarrowed: boolean;
  isPast: boolean;
  editing: Editing;
  planning: Planning;
  bringBack: BringBack;
  selected: readonly Row[];
  onDelete: () => void;
  /** Shows the row with this number; undefined where rows have none. */
  onGo: ((row: number) => void) | undefined;
  /** How many cells the range has; 0 without one. */
  rangeCells: number;
  /** Why the focused cell was refused. */
  problem: string | undefined;
};

export function TableEdits({
  table,
  editing,
  planning,
  selected,
  onDelete,
  onGo,
  rangeCells,
  problem,
  ...rest
}: TableEditsProps) {
  const { bringBack, ...rows } = rest;
  const { i18n } = useLingui();
  const [opened, setOpened] = useState<'review' | 'propose'>();
  const formats = useMemo(() => cellFormats(localeOf(i18n.locale)), [i18n.locale]);
  const { edited, mode } = editing;
  const isProposed = mode === 'propose';
  const save = () => (isProposed ? edited.edits.size > 0 && setOpened('propose') : edited.save());
  useEditKeys({ save, undo: edited.undo, redo: edited.redo });
  const close = () => setOpened(undefined);
  return (
    <div className={styles.status}>
      <RowCount {...rows} />
      {onGo && (rows.rowCount ?? 0) > seenAtOnce && <GoToRow onGo={onGo} />}
      <span role="status">
        {rangeCells > 0 && <Plural value={rangeCells} one="# cell selected" other="# cells selected" />}
      </span>
      {editing.canEdit && selected.length > 0 && (
        <Button kind="quiet" onPress={onDelete}>
          <Plural value={selected.length} one="Delete # row" other="Delete # rows" />
        </Button>
      )}
      {rows.isPast && editing.mayEdit && selected.length > 0 && (
        <Button kind="primary" onPress={() => bringBack.run(selected.slice(0, mostBroughtBack))}>
          <Plural value={selected.length} one="Bring # row back" other="Bring # rows back" />
        </Button>
      )}
      {rows.isPast && bringBack.isSame && <Trans>Now they are the same.</Trans>}
      {bringBack.error && (
        <span className={editStyles.refused} role="alert">
          {bringBack.error.message}
        </span>
      )}
      {planning.isReading && <Trans>Reading the rows…</Trans>}
      {planning.error && (
        <span className={editStyles.refused} role="alert">
          {planning.error.message}
        </span>
      )}
      {problem && <span className={editStyles.refused}>{problem}</span>}
      {editing.canEdit || edited.edits.size > 0 ? (
        <EditBar
          edited={edited}
          mode={mode}
          modes={editing.modes}
          onMode={editing.setMode}
          onReview={() => setOpened('review')}
          onPropose={() => setOpened('propose')}
        />
      ) : (
        <span className={styles.readOnly}>{rows.isPast ? <Trans>The past is read only</Trans> : editing.refusal}</span>
      )}
      <Suspense>
        {opened === 'review' && <EditsReview table={table} edited={edited} formats={formats} onClose={close} />}
        {opened === 'propose' && <ProposeDialog table={table} edited={edited} onClose={close} />}
        {planning.planned && (
          <PlanDialog
            table={table}
            planned={planning.planned}
            formats={formats}
            onApply={planning.apply}
            onClose={planning.cancel}
          />
        )}
      </Suspense>
    </div>
  );
}

function RowCount({ rowCount, isNarrowed }: Pick<TableEditsProps, 'rowCount' | 'isNarrowed'>) {
  const { i18n } = useLingui();
  const count = rowCount === undefined ? '' : new Intl.NumberFormat(localeOf(i18n.locale)).format(rowCount);
  return (
    <span role="status" className={styles.count}>
      {rowCount === undefined ? (
        <Trans>Loading…</Trans>
      ) : (
        <Plural value={rowCount} one={`${count} row`} other={`${count} rows`} />
      )}{' '}
      {isNarrowed && rowCount !== undefined && <Trans>filtered</Trans>}
    </span>
  );
}
