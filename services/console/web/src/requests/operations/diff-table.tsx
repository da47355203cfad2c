// The operations as a table: the key first, then changed columns, then the others if they are
// shown.
import { Trans, useLingui } from '@lingui/react/macro';
import { Fragment, type ReactNode } from 'react';
import { isNumeric } from '../../cells/cell-text.ts';
import type { DiffColumns } from '../../diff/diff-columns.ts';
import { type OperationItemProps, OperationRow } from '../operation/operation-row.tsx';
import styles from './operations.module.css';

type DiffTableProps = {
  label: string;
  items: OperationItemProps[];
  columns: DiffColumns;
  areAllShown: boolean;
  /** Undefined when nothing can be selected. */
  selected: 'all' | 'some' | 'none' | undefined;
  onSelectShown: () => void;
  /** Below a row. */
  detailsOf: (id: number) => ReactNode;
  end: ReactNode;
};

export function DiffTable(props: DiffTableProps) {
  const { label, items, columns, areAllShown, selected, onSelectShown, detailsOf, end } = props;
  const { t } = useLingui();
  const shown = [...columns.keys, ...columns.changed, ...(areAllShown ? columns.unchanged : [])];
  const width = shown.length + 2;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section className={styles.wrapper} aria-label={t`Changes of ${label}`} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col" className={styles.pinned}>
              <span className={styles.first}>
                {selected && (
                  <input
                    type="checkbox"
                    checked={selected === 'all'}
                    ref={(box) => {
                      if (box) box.indeterminate = selected === 'some';
                    }}
                    aria-label={t`Select all that are shown`}
                    onChange={onSelectShown}
                  />
                )}
                <Trans>Change</Trans>
              </span>
            </th>
            {shown.map(({ name, column }) => (
              <th key={name} scope="col" className={column && isNumeric(column) ? styles.numeric : ''}>
                {name}
              </th>
            ))}
            <th scope="col" className={styles.end}>
              <Trans>Decision</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => {
            const details = detailsOf(item.operation.id);
            return (
              <Fragment key={item.operation.id}>
                <OperationRow {...item} />
                {details && (
                  <tr className={styles.detailsRow}>
                    <td colSpan={width}>{details}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
      {end}
    </section>
  );
}
