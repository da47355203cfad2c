// The value of a cell of an operation: added, removed, unchanged, or old over new.
import { Trans } from '@lingui/react/macro';
import { type CellFormats, isNumeric, plainText, valueText } from '../cells/cell-text.ts';
import pageStyles from '../parts/page.module.css';
import { BeforeAfter } from './before-after.tsx';
import styles from './diff.module.css';
import type { DiffCell, DiffColumn } from './diff-columns.ts';
import { showBlanks } from './text/blanks.ts';
import { wordDiff } from './text/word-diff.ts';

type ValueProps = { value: unknown; column: DiffColumn['column']; formats: CellFormats };

/** A value as text. What has none is said to screen readers too. */
export function Value({ value, column, formats }: ValueProps) {
  const text = column ? valueText(value, column, formats) : plainText(value);
  if (text !== '') return text;
  return (
    <>
      <span aria-hidden className={styles.none}>
        {value === '' ? '""' : '∅'}
      </span>
      <span className={pageStyles.hidden}>
        <Trans>no value</Trans>
      </span>
    </>
  );
}

type CellValueProps = { cell: DiffCell; column: DiffColumn['column']; formats: CellFormats };

export function CellValue({ cell, column, formats }: CellValueProps) {
  if (cell.kind === 'changed') return <Changed {...cell} column={column} formats={formats} />;
  // A new row has no need to say what it has not.
  if (cell.value === null && cell.kind !== 'removed') return cell.kind === 'same' ? null : <span aria-hidden />;
  const value = <Value value={cell.value} column={column} formats={formats} />;
  if (cell.kind === 'removed') return <del className={styles.removed}>{value}</del>;
  return cell.kind === 'added' ? <ins className={styles.fresh}>{value}</ins> : value;
}

/** The value in a column of a table: of a width, and numbers to the right. */
export function ColumnValue(props: CellValueProps) {
  const { column } = props;
  return (
    <div className={`${styles.value} ${column && isNumeric(column) ? styles.numeric : ''}`}>
      <CellValue {...props} />
    </div>
  );
}

type ChangedProps = { before: unknown; after: unknown; column: DiffColumn['column']; formats: CellFormats };

function Changed({ before, after, column, formats }: ChangedProps) {
  const parts = wordDiff(before, after);
  if (parts)
    return (
      <p className={styles.words}>
        {parts.map(({ kind, text }, place) => {
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name.
          if (kind === 'same') return <span key={place}>{text}</span>;
          const Part = kind === 'removed' ? 'del' : 'ins';
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name.
            <Part key={place} className={kind === 'removed' ? styles.before : styles.after}>
              {text}
            </Part>
          );
        })}
      </p>
    );
  return (
    <span className={styles.change}>
      <BeforeAfter
        before={<Compared value={before} column={column} formats={formats} />}
        after={<Compared value={after} column={column} formats={formats} />}
      />
    </span>
  );
}

/** A value beside another one, which may differ by a blank alone. */
function Compared(props: ValueProps) {
  const pieces = typeof props.value === 'string' ? showBlanks(props.value) : [];
  if (!pieces.some(({ isBlank }) => isBlank)) return <Value {...props} />;
  return pieces.map(({ text, isBlank }, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other name.
    <span key={place} className={isBlank ? styles.blank : undefined}>
      {text}
    </span>
  ));
}
