// The columns of a row as a form: the way to edit on a phone, and what has no room in a cell.
import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import type { Column, Row, Table } from '../../api/queries.ts';
import { isNumeric, plainText } from '../../cells/cell-text.ts';
import { habitsOf, type TypingHabits } from '../../cells/typed-values.ts';
import { type CellChange, setCells, shownRow } from '../../edits/edits.ts';
import type { Editing } from '../../edits/use-editing.ts';
import { localeOf } from '../../language/locale.ts';
import { Form } from '../../parts/form/form.tsx';
import { plainLines, readField } from './field-value.ts';
import { ValueField } from './value-field.tsx';

type RowFormProps = { row: Row; table: Table; tables: Table[]; editing: Editing; onDone: () => void };

export function RowForm({ row, table, tables, editing, onDone }: RowFormProps) {
  const { t, i18n } = useLingui();
  const [error, setError] = useState<Error>();
  const { edited, mode } = editing;
  const problems = edited.problems.get(row.svc_sk);
  const habits = habitsOf(localeOf(i18n.locale));
  const shown = shownRow(row, edited.edits.get(row.svc_sk));
  const columns = table.column_definitions.toSorted((a, b) => a.position - b.position);
  const submit = (typed: Record<string, string>) => {
    try {
      const changes = readForm(typed, row, shown, columns, habits);
      edited.change((edits) => setCells(edits, changes));
      onDone();
    } catch {
      setError(new Error(t`A value is not JSON. Texts in it stand in double quotes.`));
    }
  };
  return (
    <Form
      error={error}
      isPending={false}
      submit={mode === 'direct' ? <Trans>Save</Trans> : <Trans>Keep these changes</Trans>}
      onCancel={onDone}
      onSubmit={submit}
    >
      {columns.map((column) => (
        <ValueField
          key={column.id}
          column={column}
          value={typedText(shown[column.name], column, habits)}
          target={tables.find(({ table_definition_id: id }) => id === column.foreign_key_table_id)}
          problem={problems?.find((problem) => problem.column === column.name)?.message}
          isRequired={column.is_required || column.is_primary_key}
        />
      ))}
    </Form>
  );
}

/** The value as it is typed. */
function typedText(value: unknown, column: Column, { signs }: TypingHabits): string {
  if (value === null || value === undefined) return '';
  if (column.data_type === 'json') return JSON.stringify(value, null, 2);
  return isNumeric(column) ? plainText(value).replace('.', signs.decimal) : plainText(value);
}

/** What the person has touched; throws for a JSON value that is none. */
function readForm(
  typed: Record<string, string>,
  row: Row,
  shown: Row,
  columns: readonly Column[],
  habits: TypingHabits,
): CellChange[] {
  return columns.flatMap((column) => {
    const entered = typed[column.name];
    const text = entered && plainLines(entered);
    if (text === undefined || text === typedText(shown[column.name], column, habits)) return [];
    return [{ row, column: column.name, value: readField(text, column, habits) }];
  });
}
