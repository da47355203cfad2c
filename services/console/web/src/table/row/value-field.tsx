// The field for a value of a column, by its data type: in the form of a row, and of all matches.
import { useLingui } from '@lingui/react/macro';
import type { Column, Table } from '../../api/queries.ts';
import { isNumeric, validValues } from '../../cells/cell-text.ts';
import { SelectField, TextField } from '../../parts/form/fields.tsx';

type ValueFieldProps = {
  column: Column;
  /** As it is typed. */
  value: string;
  /** The table that the column refers to. */
  target: Table | undefined;
  problem?: string | undefined;
  isRequired?: boolean;
  /** What a list says where nothing is chosen. */
  blank?: string;
};

export function ValueField({ column, value, target, problem, isRequired = false, blank }: ValueFieldProps) {
  const { t } = useLingui();
  const { name, data_type, description, is_primary_key } = column;
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
        options={[{ id: '', name: blank ?? t`(no value)` }, ...choices, ...others]}
        defaultValue={value}
      />
    );
  return (
    <TextField
      name={name}
      label={name}
      help={help}
      defaultValue={value}
      isRequired={isRequired}
      isLong={data_type === 'text' || data_type === 'json'}
      isCode={is_primary_key || data_type === 'json' || target !== undefined}
      {...(isNumeric(column) && { inputMode: 'decimal' as const })}
    />
  );
}
