import { Trans, useLingui } from '@lingui/react/macro';
import { ArrowRight } from 'lucide-react';
import type { Schemas } from '../../api/client.ts';
import type { Column, Table } from '../../api/queries.ts';
import formStyles from '../../parts/form/form.module.css';
import pageStyles from '../../parts/page.module.css';
import type { ImportTable } from '../queries.ts';
import styles from '../wizard.module.css';
import { LookupChoice } from './lookup-choice.tsx';
import { type Entry, isOfSystem, type Mapping, transactionCode, withLookup, withTarget } from './mapping.ts';

type ColumnsListProps = {
  mapping: Mapping;
  /** What was guessed of the columns; empty where the mapping is another one. */
  guess: Schemas['SuggestedColumn'][];
  values: Map<string, string[]>;
  table: Table;
  tables: Table[];
  pattern: ImportTable['pattern'];
  onChange: (mapping: Mapping) => void;
};

// Below this a name is only similar.
const isEqual = 0.95;

// Those of the system are not for the table.
const isShown = ({ source_column, target_column }: Entry) => target_column !== null || !isOfSystem(source_column);

/** Each column of the file with some of its values, and the column of the table that it fills. */
export function ColumnsList({ mapping, guess, values, table, tables, pattern, onChange }: ColumnsListProps) {
  const columns = table.column_definitions;
  const hasCode = pattern === 'incremental_with_delete';
  return (
    <ul className={styles.columns}>
      {mapping.column_mappings.filter(isShown).map((entry) => {
        const { source_column: source, target_column } = entry;
        const target = columns.find(({ name }) => name === target_column);
        return (
          <li key={source} className={styles.column} data-left={target_column === null || undefined}>
            <SourceColumn
              entry={entry}
              values={values.get(source) ?? []}
              guess={guess.find(({ source_column }) => source_column === source)}
              hasHeader={mapping.has_header}
            />
            <ArrowRight size={16} aria-hidden />
            <div className={styles.target}>
              <TargetChoice
                entry={entry}
                columns={columns}
                hasCode={hasCode}
                onChoose={(name) => onChange(withTarget(mapping, source, name))}
              />
              {target?.foreign_key_table_id !== null && target !== undefined && (
                <LookupChoice
                  entry={entry}
                  referenced={tables.find(({ id }) => id === target.foreign_key_table_id)}
                  onChoose={(lookup) => onChange(withLookup(mapping, source, lookup))}
                />
              )}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

type SourceColumnProps = {
  entry: Entry;
  values: string[];
  guess: Schemas['SuggestedColumn'] | undefined;
  hasHeader: boolean;
};

function SourceColumn({ entry: { source_column, target_column }, values, guess, hasHeader }: SourceColumnProps) {
  const isSimilar = guess !== undefined && guess.target_column === target_column && guess.confidence < isEqual;
  return (
    <div className={styles.source}>
      <span className={pageStyles.name}>{hasHeader ? source_column : <Trans>Column {source_column}</Trans>}</span>{' '}
      {target_column !== null && isSimilar && (
        <span className={pageStyles.pill}>
          <Trans>guessed</Trans>
        </span>
      )}
      <span className={styles.values}>
        {values.length > 0 ? values.join(' · ') : <Trans>no values at the beginning of the file</Trans>}
      </span>
      {guess?.notes.map((note) => (
        <span key={note} className={styles.note}>
          {note}
        </span>
      ))}
    </div>
  );
}

type TargetChoiceProps = {
  entry: Entry;
  columns: Column[];
  hasCode: boolean;
  onChoose: (name: string | null) => void;
};

function TargetChoice({ entry: { source_column, target_column }, columns, hasCode, onChoose }: TargetChoiceProps) {
  const { t } = useLingui();
  return (
    <select
      className={formStyles.input}
      aria-label={t`Column of the table for ${source_column}`}
      value={target_column ?? ''}
      onChange={({ target }) => onChoose(target.value === '' ? null : target.value)}
    >
      <option value="">{t`– leave out –`}</option>
      {columns.map(({ name, is_primary_key, is_required }) => (
        <option key={name} value={name}>
          {is_primary_key ? t`${name} (key)` : is_required ? t`${name} (required)` : name}
        </option>
      ))}
      {(hasCode || target_column === transactionCode) && <option value={transactionCode}>{transactionCode}</option>}
    </select>
  );
}
