// An operation as a row of the table: its key, its cells, and how it is decided.
import { Trans, useLingui } from '@lingui/react/macro';
import { memo, type ReactNode } from 'react';
import type { CellFormats } from '../../cells/cell-text.ts';
import { ColumnValue } from '../../diff/cell-value.tsx';
import { type DiffColumn, type DiffColumns, diffCell } from '../../diff/diff-columns.ts';
import type { Operation } from '../queries.ts';
import { DecisionButtons } from './decision-buttons.tsx';
import { KindSign, Marks } from './kind-sign.tsx';
import styles from './operation.module.css';
import { nameOf } from './operation-name.ts';
import type { May, RowActs } from './row-acts.ts';

export type OperationItemProps = {
  operation: Operation;
  columns: DiffColumns;
  areAllShown: boolean;
  formats: CellFormats;
  may: May;
  comments: number;
  isCurrent: boolean;
  isSelected: boolean;
  isOpen: boolean;
  acts: RowActs;
};

export const OperationRow = memo(function OperationRow(props: OperationItemProps) {
  const { t } = useLingui();
  const { operation, columns, areAllShown, may, isCurrent, isSelected, isOpen, acts } = props;
  const { id, kind } = operation;
  const name = nameOf(operation);
  // One row is in the order of tabs; arrows and keys go to the others.
  const tabIndex = isCurrent ? 0 : -1;
  return (
    <tr
      className={styles.row}
      data-operation={id}
      data-open={isOpen || undefined}
      tabIndex={tabIndex}
      aria-current={isCurrent || undefined}
      onFocus={() => acts.setCurrent(id)}
    >
      <td className={styles.pinned}>
        <span className={styles.first}>
          {may && (
            <input
              type="checkbox"
              checked={isSelected}
              tabIndex={tabIndex}
              aria-label={t`Select ${name}`}
              onChange={({ nativeEvent }) => acts.select(id, (nativeEvent as MouseEvent).shiftKey === true)}
            />
          )}
          <KindSign kind={kind} />
        </span>
        <Marks
          operation={operation}
          comments={props.comments}
          isOpen={isOpen}
          tabIndex={tabIndex}
          onOpen={() => acts.open(isOpen ? undefined : id)}
        />
      </td>
      <Cells {...props} columns={columns.keys} Cell={KeyCell} />
      <Cells {...props} columns={columns.changed} Cell={PlainCell} />
      {areAllShown && <Cells {...props} columns={columns.unchanged} Cell={PlainCell} />}
      <td className={styles.end}>
        <div className={styles.ends}>
          <DecisionButtons operation={operation} name={name} may={may} acts={acts} tabIndex={tabIndex} />
          <button
            type="button"
            className={styles.details}
            tabIndex={tabIndex}
            aria-expanded={isOpen}
            onClick={() => acts.open(isOpen ? undefined : id)}
          >
            {isOpen ? <Trans>Close</Trans> : <Trans>Details</Trans>}
          </button>
        </div>
      </td>
    </tr>
  );
});

type CellProps = { className: string; children: ReactNode };

const KeyCell = ({ className, children }: CellProps) => (
  <th scope="row" className={`${styles.key} ${className}`}>
    {children}
  </th>
);
const PlainCell = ({ className, children }: CellProps) => <td className={className}>{children}</td>;

type CellsProps = Pick<OperationItemProps, 'operation' | 'formats'> & {
  columns: DiffColumn[];
  Cell: (props: CellProps) => ReactNode;
};

function Cells({ operation, columns, formats, Cell }: CellsProps) {
  return columns.map(({ name, column }) => {
    const cell = diffCell(operation, name);
    return (
      <Cell key={name} className={`${styles[cell.kind]} ${isTroubled(operation, name) ? styles.troubled : ''}`}>
        <ColumnValue cell={cell} column={column} formats={formats} />
      </Cell>
    );
  });
}

function isTroubled({ conflict, problems }: Operation, name: string): boolean {
  return conflict?.columns[name] !== undefined || problems.some(({ column }) => column === name);
}
