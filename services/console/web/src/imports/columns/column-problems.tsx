import { Trans } from '@lingui/react/macro';
import type { Column } from '../../api/queries.ts';
import styles from '../wizard.module.css';
import { type Mapping, transactionCode } from './mapping.ts';

type ColumnProblemsProps = {
  missing: string[];
  twice: string[];
  mapping: Mapping | undefined;
  columns: Column[];
};

/** What has to be put right before the file can be checked, and which columns stay as they are. */
export function ColumnProblems({ missing, twice, mapping, columns }: ColumnProblemsProps) {
  const keys = missing.filter((name) => name !== transactionCode).join(', ');
  const filled = mapping?.column_mappings.map(({ target_column }) => target_column) ?? [];
  const left = columns.filter(({ name, is_primary_key }) => !is_primary_key && !filled.includes(name));
  const names = left.map(({ name }) => name).join(', ');
  const doubles = twice.join(', ');
  return (
    <div role="status">
      {keys !== '' && (
        <p className={styles.problem}>
          <Trans>
            The key needs a column of the file: {keys}. By the key each row of the file finds its row of the table.
          </Trans>
        </p>
      )}
      {missing.includes(transactionCode) && (
        <p className={styles.problem}>
          <Trans>A column of the file has to fill {transactionCode}: it says what is done with each row.</Trans>
        </p>
      )}
      {twice.length > 0 && (
        <p className={styles.problem}>
          <Trans>Two columns of the file fill the same column: {doubles}. Leave out one of them.</Trans>
        </p>
      )}
      {mapping && left.length > 0 && (
        <p className={styles.note}>
          <Trans>The file doesn’t fill these columns, and their values stay: {names}.</Trans>
        </p>
      )}
    </div>
  );
}
