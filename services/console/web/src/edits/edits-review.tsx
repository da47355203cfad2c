// All changes that are not saved, row by row: what was, what will be, and why it was refused.

import { Plural, Trans, useLingui } from '@lingui/react/macro';
import type { Table } from '../api/queries.ts';
import { type CellFormats, keyText, valueText } from '../cells/cell-text.ts';
import { Button } from '../parts/button.tsx';
import { ChangeSign } from '../parts/change-sign.tsx';
import { ModalDialog } from '../parts/modal-dialog.tsx';
import styles from './edits.module.css';
import { dropRows, type RowEdit } from './edits.ts';
import type { EditedTable } from './use-edits.ts';

type EditsReviewProps = { table: Table; edited: EditedTable; formats: CellFormats; onClose: () => void };

// More rows than these are read in the grid, which shows them all.
const shownRows = 200;

export function EditsReview({ table, edited, formats, onClose }: EditsReviewProps) {
  const { t } = useLingui();
  const all = [...edited.edits.values()];
  const refusedFirst = all.toSorted((a, b) => Number(edited.problems.has(b.id)) - Number(edited.problems.has(a.id)));
  const hidden = all.length - shownRows;
  return (
    <ModalDialog label={t`Changes that are not saved`} onClose={onClose}>
      {all.length === 0 && <Trans>Nothing is left to save.</Trans>}
      <ul className={styles.review}>
        {refusedFirst.slice(0, shownRows).map((edit) => (
          <ReviewedRow key={edit.id} edit={edit} table={table} edited={edited} formats={formats} />
        ))}
      </ul>
      {hidden > 0 && <Plural value={hidden} one="and # more row" other="and # more rows" />}
    </ModalDialog>
  );
}

type ReviewedRowProps = { edit: RowEdit; table: Table; edited: EditedTable; formats: CellFormats };

function ReviewedRow({ edit, table, edited, formats }: ReviewedRowProps) {
  const { t } = useLingui();
  const { id, kind, before, values } = edit;
  const names = { create: t`new`, update: t`changed`, delete: t`to be deleted` };
  const columns = table.column_definitions;
  const key = keyText(before ?? values, columns);
  const text = (name: string, value: unknown) => {
    const column = columns.find((one) => one.name === name);
    return (column && valueText(value, column, formats)) || '∅';
  };
  const problems = edited.problems.get(id) ?? [];
  const current = edited.current.get(id);
  return (
    <li className={styles.reviewed}>
      <div className={styles.reviewedHead}>
        <ChangeSign kind={kind} />
        <strong>{key || t`New row`}</strong>
        <span className={styles.kind}>{names[kind]}</span>
        <span className={styles.end} />
        {problems.some(({ isConflict }) => isConflict) && current && (
          <Button onPress={() => edited.keepMine(id)}>
            <Trans>Keep mine</Trans>
          </Button>
        )}
        <Button kind="quiet" onPress={() => edited.change((all) => dropRows(all, [id]))}>
          <Trans>Drop this change</Trans>
        </Button>
      </div>
      {Object.entries(values).map(([name, value]) => (
        <div key={name} className={styles.cell}>
          {name}: {before && <del>{text(name, before[name])}</del>} <ins>{text(name, value)}</ins>
          {current && (
            <span className={styles.theirs}>
              <Trans>now: {text(name, current[name])}</Trans>
            </span>
          )}
        </div>
      ))}
      {problems.map(({ message, column }) => (
        <p key={`${column}:${message}`} className={styles.refused}>
          {message}
        </p>
      ))}
    </li>
  );
}
