import { Trans, useLingui } from '@lingui/react/macro';
import { useMemo } from 'react';
import type { Column } from '../../api/queries.ts';
import { type CellFormats, cellFormats, plainText, valueText } from '../../cells/cell-text.ts';
import { operationOf } from '../../diff/change-kinds.ts';
import { useChangeWords } from '../../diff/change-words.ts';
import { localeOf } from '../../language/locale.ts';
import { ChangeSign } from '../../parts/change-sign.tsx';
import tableStyles from '../imports.module.css';
import type { Change } from './changes-query.ts';
import styles from './effect.module.css';

type EffectRowsProps = { label: string; changes: Change[]; columns: Column[] };

/** Rows with their kind of change, their key, and their cells: old over new. */
export function EffectRows({ label, changes, columns }: EffectRowsProps) {
  const { i18n } = useLingui();
  const formats = useMemo(() => cellFormats(localeOf(i18n.locale)), [i18n.locale]);
  return (
    <div className={tableStyles.table}>
      <table aria-label={label}>
        <thead>
          <tr>
            <th scope="col">
              <Trans>Change</Trans>
            </th>
            <th scope="col">
              <Trans>Row</Trans>
            </th>
            <th scope="col">
              <Trans>Values</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a new row has no id, and the list only grows.
            <EffectRow key={place} change={change} columns={columns} formats={formats} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type EffectRowProps = { change: Change; columns: Column[]; formats: CellFormats };

function EffectRow({ change: { kind, key, cells }, columns, formats }: EffectRowProps) {
  const words = useChangeWords();
  const text = (name: string, value: unknown) => {
    const column = columns.find((one) => one.name === name);
    return (column ? valueText(value, column, formats) : plainText(value)) || '∅';
  };
  return (
    <tr>
      <td className={styles.kind}>
        <ChangeSign kind={operationOf[kind]} />
        {words[kind]}
      </td>
      <td className={styles.key}>{Object.values(key).map(plainText).join(' · ')}</td>
      <td>
        <div className={styles.cells}>
          {ordered(cells, columns).map(([name, { from, to }]) => (
            <div key={name} className={styles.cell}>
              <span className={styles.name}>{name}:</span>{' '}
              {kind !== 'created' && <del className={styles.before}>{text(name, from)}</del>}{' '}
              {kind !== 'deleted' && <ins className={styles.after}>{text(name, to)}</ins>}
            </div>
          ))}
        </div>
      </td>
    </tr>
  );
}

// In the order of the table; columns that it no longer has come last.
function ordered(cells: Change['cells'], columns: Column[]): [string, Change['cells'][string]][] {
  const place = (name: string) => columns.find((column) => column.name === name)?.position ?? Number.POSITIVE_INFINITY;
  return Object.entries(cells).toSorted(([one], [other]) => place(one) - place(other) || 0);
}
