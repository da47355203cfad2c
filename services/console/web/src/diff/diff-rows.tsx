// Changed rows as a table: what happened to each, its key, and the columns that some change.
import { Trans, useLingui } from '@lingui/react/macro';
import { Fragment, type ReactNode, useMemo } from 'react';
import type { Column } from '../api/queries.ts';
import { cellFormats, isNumeric } from '../cells/cell-text.ts';
import { localeOf } from '../language/locale.ts';
import { ChangeSign } from '../parts/change-sign.tsx';
import { ColumnValue } from './cell-value.tsx';
import { type ChangeKind, operationOf } from './change-kinds.ts';
import { useChangeWords } from './change-words.ts';
import { diffCell, diffColumns, type Shown } from './diff-columns.ts';
import styles from './diff-rows.module.css';
import { More, type NextWindow } from './more.tsx';

/**
 * What changed in a row. `mark` says more below its kind, such as that it has a conflict; `details`
 * is a line of their own below it.
 */
export type ChangedRow = Omit<Shown, 'kind' | 'problems'> & {
  id: string;
  kind: ChangeKind;
  mark?: ReactNode;
  details?: ReactNode;
};

type DiffRowsProps = {
  label: string;
  rows: readonly ChangedRow[];
  columns: readonly Column[];
  /** The column that says what a row is called. */
  labelId: number | null;
  /** How many there are, of which these are the first windows. */
  total: number;
  windows: NextWindow;
};

export function DiffRows({ label, rows, columns, labelId, total, windows }: DiffRowsProps) {
  const { i18n } = useLingui();
  const formats = useMemo(() => cellFormats(localeOf(i18n.locale)), [i18n.locale]);
  const words = useChangeWords();
  const changes = useMemo(() => rows.map(asOperation), [rows]);
  const { keys, changed } = useMemo(() => diffColumns(changes, columns, labelId), [changes, columns, labelId]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section className={styles.wrapper} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">
              <Trans>Change</Trans>
            </th>
            {[...keys, ...changed].map(({ name, column }) => (
              <th key={name} scope="col" className={column && isNumeric(column) ? styles.right : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Fragment key={row.id}>
              <tr>
                <td className={styles.kind}>
                  <ChangeSign kind={operationOf[row.kind]} />
                  {words[row.kind]}
                  {row.mark}
                </td>
                {keys.map(({ name, column }) => {
                  const cell = diffCell(asOperation(row), name);
                  return (
                    <th key={name} scope="row" className={`${styles.key} ${styles[cell.kind]}`}>
                      <ColumnValue cell={cell} column={column} formats={formats} />
                    </th>
                  );
                })}
                {changed.map(({ name, column }) => {
                  const cell = diffCell(asOperation(row), name);
                  return (
                    <td key={name} className={styles[cell.kind]}>
                      <ColumnValue cell={cell} column={column} formats={formats} />
                    </td>
                  );
                })}
              </tr>
              {row.details && (
                <tr>
                  <td colSpan={1 + keys.length + changed.length}>
                    <div className={styles.details}>{row.details}</div>
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
      <More shown={rows.length} total={total} windows={windows} />
    </section>
  );
}

const asOperation = (row: ChangedRow): Shown => ({ ...row, kind: operationOf[row.kind], problems: [] });
