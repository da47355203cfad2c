// The columns that all matches get values in: each a choice of the column, and its field.
import { Trans, useLingui } from '@lingui/react/macro';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { Column, Table } from '../../../api/queries.ts';
import { Button } from '../../../parts/button.tsx';
import { CheckField, SelectField } from '../../../parts/form/fields.tsx';
import pageStyles from '../../../parts/page.module.css';
import { ValueField } from '../../row/value-field.tsx';
import styles from '../bulk.module.css';
import { emptyName } from './new-values.ts';

/** A line of the form; without a column until one is chosen. */
export type ChosenColumn = { line: number; column: Column | undefined };

type ChosenValuesProps = {
  columns: readonly Column[];
  tables: readonly Table[];
  chosen: readonly ChosenColumn[];
  onChoose: (chosen: ChosenColumn[]) => void;
};

export function ChosenValues({ columns, tables, chosen, onChoose }: ChosenValuesProps) {
  const choose = (line: number, id: string) => {
    const column = columns.find((one) => String(one.id) === id);
    onChoose(chosen.map((one) => (one.line === line ? { line, column } : one)));
  };
  const taken = new Set(chosen.map(({ column }) => column?.id));
  const next = Math.max(0, ...chosen.map(({ line }) => line)) + 1;
  return (
    <>
      {chosen.map(({ line, column }) => (
        <ChosenValue
          key={line}
          line={line}
          column={column}
          columns={columns.filter(({ id }) => id === column?.id || !taken.has(id))}
          target={tables.find(({ table_definition_id: id }) => id === column?.foreign_key_table_id)}
          onColumn={(id) => choose(line, id)}
          onRemove={chosen.length > 1 ? () => onChoose(chosen.filter((one) => one.line !== line)) : undefined}
        />
      ))}
      {chosen.length < columns.length && chosen.at(-1)?.column && (
        <div>
          <Button onPress={() => onChoose([...chosen, { line: next, column: undefined }])}>
            <Plus size={16} aria-hidden />
            <Trans>Another column</Trans>
          </Button>
        </div>
      )}
    </>
  );
}

type ChosenValueProps = {
  line: number;
  column: Column | undefined;
  columns: readonly Column[];
  target: Table | undefined;
  onColumn: (id: string) => void;
  onRemove: (() => void) | undefined;
};

function ChosenValue({ line, column, columns, target, onColumn, onRemove }: ChosenValueProps) {
  const { t } = useLingui();
  const [isEmpty, setIsEmpty] = useState(false);
  const mayBeEmpty = column && !column.is_required && !column.is_primary_key;
  return (
    <fieldset className={styles.line}>
      <legend className={pageStyles.hidden}>{column?.name ?? t`Another column`}</legend>
      <div className={styles.column}>
        <SelectField
          name={`column ${line}`}
          label={t`Column`}
          options={[{ id: '', name: t`Choose…` }, ...columns.map(({ id, name }) => ({ id: String(id), name }))]}
          onChange={onColumn}
          autoFocus
        />
        {onRemove && (
          <Button
            kind="quiet"
            aria-label={column ? t`Leave out ${column.name}` : t`Leave out this column`}
            onPress={onRemove}
          >
            <X size={16} aria-hidden />
          </Button>
        )}
      </div>
      {column && (
        <div className={styles.value}>
          {/* Kept while it is away, so that what was typed comes back with it. */}
          <div hidden={isEmpty && mayBeEmpty}>
            <ValueField key={column.id} column={column} value="" target={target} blank={t`Choose…`} />
          </div>
          {mayBeEmpty && (
            <CheckField
              key={column.id}
              name={emptyName(column.name)}
              label={<Trans>No value in {column.name}</Trans>}
              onChange={setIsEmpty}
            />
          )}
        </div>
      )}
    </fieldset>
  );
}
