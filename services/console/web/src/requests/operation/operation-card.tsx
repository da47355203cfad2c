// An operation on a phone: a card with large buttons.
import { Trans, useLingui } from '@lingui/react/macro';
import { memo } from 'react';
import { CellValue } from '../../diff/cell-value.tsx';
import { diffCell } from '../../diff/diff-columns.ts';
import { DecisionButtons } from './decision-buttons.tsx';
import { KindSign, Marks } from './kind-sign.tsx';
import styles from './operation.module.css';
import { nameOf } from './operation-name.ts';
import type { OperationItemProps } from './operation-row.tsx';

export const OperationCard = memo(function OperationCard(props: OperationItemProps) {
  const { t } = useLingui();
  const { operation, columns, areAllShown, formats, may, comments, isCurrent, isSelected, isOpen, acts } = props;
  const { id, kind } = operation;
  const name = nameOf(operation);
  const cells = [...columns.changed, ...columns.unchanged]
    .map((column) => ({ ...column, cell: diffCell(operation, column.name) }))
    .filter(({ cell }) => cell.kind === 'changed' || ((areAllShown || cell.kind !== 'same') && cell.value !== null));
  return (
    <article
      className={styles.card}
      data-operation={id}
      tabIndex={isCurrent ? 0 : -1}
      aria-label={name}
      onFocus={() => acts.setCurrent(id)}
    >
      <div className={styles.first}>
        {may && (
          <input
            type="checkbox"
            checked={isSelected}
            aria-label={t`Select ${name}`}
            onChange={() => acts.select(id, false)}
          />
        )}
        <KindSign kind={kind} />
        <span className={styles.key}>{name}</span>
      </div>
      <Marks
        operation={operation}
        comments={comments}
        isOpen={isOpen}
        onOpen={() => acts.open(isOpen ? undefined : id)}
      />
      <dl className={styles.cells}>
        {cells.map(({ name, column, cell }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <CellValue cell={cell} column={column} formats={formats} />
            </dd>
          </div>
        ))}
      </dl>
      <div className={styles.cardEnd}>
        <DecisionButtons operation={operation} name={name} may={may} acts={acts} />
        <button
          type="button"
          className={styles.details}
          aria-expanded={isOpen}
          onClick={() => acts.open(isOpen ? undefined : id)}
        >
          {isOpen ? <Trans>Close</Trans> : <Trans>Details</Trans>}
        </button>
      </div>
    </article>
  );
});
