import { Plural, Trans } from '@lingui/react/macro';
import pageStyles from '../../parts/page.module.css';
import { typeText } from '../definition/data-types.ts';
import type { AnyColumn } from '../definition/queries.ts';
import { splitValues } from '../definition/valid-values.ts';
import styles from './structure.module.css';

type ColumnFactsProps = { column: AnyColumn; nameOf: (tableId: number) => string };

/** A column: its name and type, and what its values have to be. */
export function ColumnFacts({ column, nameOf }: ColumnFactsProps) {
  const { name, is_primary_key, is_required, foreign_key_table_id, is_hierarchy, valid_values, description } = column;
  const values = splitValues(valid_values);
  return (
    <div className={styles.facts}>
      <p>
        <code className={styles.name}>{name}</code> <span className={styles.type}>{typeText(column)}</span>
      </p>
      <p className={styles.pills}>
        {is_primary_key ? (
          <span className={pageStyles.pill}>
            <Trans>key</Trans>
          </span>
        ) : (
          is_required && (
            <span className={pageStyles.pill}>
              <Trans>required</Trans>
            </span>
          )
        )}
        {foreign_key_table_id !== null && (
          <span className={pageStyles.pill}>
            {is_hierarchy ? (
              <Trans>refers to {nameOf(foreign_key_table_id)}, without circles</Trans>
            ) : (
              <Trans>refers to {nameOf(foreign_key_table_id)}</Trans>
            )}
          </span>
        )}
        {values.length > 0 && (
          <span className={pageStyles.pill} title={values.join(', ')}>
            <Plural value={values.length} one="one of # value" other="one of # values" />
          </span>
        )}
      </p>
      {values.length > 0 && <p className={styles.note}>{values.join(', ')}</p>}
      {description && <p className={styles.note}>{description}</p>}
    </div>
  );
}
