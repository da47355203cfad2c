// Adds a column to a draft, or changes one.
import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { CheckField, SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { hasLength } from '../definition/data-types.ts';
import { type DraftColumn, draftChanges } from '../definition/queries.ts';
import { useTypeOptions } from '../definition/use-type-options.ts';
import { splitValues } from '../definition/valid-values.ts';
import { readColumn } from './read-column.ts';
import styles from './structure.module.css';

type ColumnDialogProps = {
  tableId: number;
  /** Unset for a new one. */
  column?: DraftColumn;
  /** The tables that it can refer to, its own one included. */
  tables: { id: number; name: string }[];
  onClose: () => void;
};

export function ColumnDialog({ tableId, column, tables, onClose }: ColumnDialogProps) {
  const { t } = useLingui();
  const types = useTypeOptions();
  const [type, setType] = useState<string>(column?.data_type ?? 'string');
  const [target, setTarget] = useState(column?.foreign_key_table_id ?? undefined);
  const save = useAct(
    (values: Record<string, string>) => {
      const column_definition = readColumn(values);
      return column
        ? client.patch('/column_definitions/{id}', { params: { path: { id: column.id } }, body: { column_definition } })
        : client.post('/column_definitions', { body: { table_definition_id: tableId, column_definition } });
    },
    { changes: draftChanges, onDone: onClose },
  );
  return (
    <FormDialog
      label={column ? t`Change ${column.name}` : t`New column`}
      submit={column ? <Trans>Save to the draft</Trans> : <Trans>Add to the draft</Trans>}
      act={save}
      onClose={onClose}
    >
      <TextField
        name="name"
        label={<Trans>Name</Trans>}
        help={<Trans>Letters a to z, digits and _; programs use it.</Trans>}
        defaultValue={column?.name ?? ''}
        autoFocus
        isRequired
        isCode
      />
      <SelectField
        name="data_type"
        label={<Trans>Type</Trans>}
        options={types}
        defaultValue={type}
        onChange={setType}
      />
      {hasLength(type) && (
        <div className={styles.pair}>
          <TextField
            name="length"
            label={type === 'decimal' ? <Trans>Digits in all</Trans> : <Trans>Longest text</Trans>}
            defaultValue={column?.length?.toString() ?? ''}
            inputMode="numeric"
            pattern="[0-9]*"
          />
          {type === 'decimal' && (
            <TextField
              name="scale"
              label={<Trans>Digits after the point</Trans>}
              defaultValue={column?.scale?.toString() ?? ''}
              inputMode="numeric"
              pattern="[0-9]*"
            />
          )}
        </div>
      )}
      <CheckField
        name="is_primary_key"
        label={<Trans>Part of the key</Trans>}
        help={<Trans>The columns of the key together name a row.</Trans>}
        isChecked={column?.is_primary_key}
      />
      <CheckField name="is_required" label={<Trans>Required</Trans>} isChecked={column?.is_required} />
      <SelectField
        name="foreign_key_table_id"
        label={<Trans>Refers to</Trans>}
        help={<Trans>Its values are then keys of that table.</Trans>}
        options={[{ id: '', name: t`no table` }, ...tables.map(({ id, name }) => ({ id: String(id), name }))]}
        defaultValue={target === undefined ? '' : String(target)}
        onChange={(id) => setTarget(id === '' ? undefined : Number(id))}
      />
      {target === tableId && (
        <CheckField
          name="is_hierarchy"
          label={<Trans>A hierarchy</Trans>}
          help={<Trans>No row can be below itself.</Trans>}
          isChecked={column?.is_hierarchy}
        />
      )}
      <TextField
        name="valid_values"
        label={<Trans>Valid values</Trans>}
        help={<Trans>One a line. Without any, all values of the type are valid.</Trans>}
        defaultValue={splitValues(column?.valid_values ?? null).join('\n')}
        isLong
      />
      <TextField
        name="description"
        label={<Trans>Description</Trans>}
        defaultValue={column?.description ?? ''}
        isLong
      />
    </FormDialog>
  );
}
