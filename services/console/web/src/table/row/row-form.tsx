// The columns of a row as a form: the way to edit on a phone, and what has no room in a cell.
import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import type { Column, Row, Table } from '../../api/queries.ts';
import { isNumeric, plainText, validValues } from '../../cells/cell-text.ts';
import { habitsOf, readTyped, type TypingHabits } from '../../cells/typed-values.ts';
import { type CellChange, setCells, shownRow } from '../../edits/edits.ts';
import type { Editing } from '../../edits/use-editing.ts';
import { localeOf } from '../../language/language.ts';
import { SelectField, TextField } from '../../parts/form/fields.tsx';
import { Form } from '../../parts/form/form.tsx';

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
        <Field
          key={column.id}
          column={column}
          value={typedText(shown[column.name], column, habits)}
          target={tables.find(({ table_definition_id: id }) => id === column.foreign_key_table_id)}
          problem={problems?.find((problem) => problem.column === column.name)?.message}
        />
      ))}
    </Form>
  );
}

type FieldProps = { column: Column; value: string; target: Table | undefined; problem: string | undefined };

function Field({ column, value, target, problem }: FieldProps) {
  const { t } = useLingui();
  const { name, data_type, description, is_required, is_primary_key } = column;
  const choices =
    data_type === 'boolean'
      ? [
          { id: 'true', name: t`Yes` },
          { id: 'false', name: t`No` },
        ]
      : validValues(column).map((id) => ({ id, name: id }));
  const help = problem ?? description ?? (target && t`a key of ${target.name}`);
  // A value that the list has no longer stays what it is until another is chosen.
  const others = value === '' || choices.some(({ id }) => id === value) ? [] : [{ id: value, name: value }];
  if (choices.length > 0)
    return (
      <SelectField
        name={name}
        label={name}
        help={help}
        options={[{ id: '', name: t`(no value)` }, ...choices, ...others]}
        defaultValue={value}
      />
    );
  return (
    <TextField
      name={name}
      label={name}
      help={help}
      defaultValue={value}
      isRequired={is_required || is_primary_key}
      isLong={data_type === 'text' || data_type === 'json'}
      isCode={is_primary_key || data_type === 'json' || target !== undefined}
      {...(isNumeric(column) && { inputMode: 'decimal' as const })}
    />
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
    // Browsers send line breaks of forms as CR LF.
    const text = typed[column.name]?.replaceAll('\r\n', '\n');
    if (text === undefined || text === typedText(shown[column.name], column, habits)) return [];
    const value = column.data_type === 'json' && text !== '' ? JSON.parse(text) : readTyped(text, column, habits);
    return [{ row, column: column.name, value }];
  });
}
