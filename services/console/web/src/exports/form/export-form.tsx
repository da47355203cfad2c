// What the file of an export shall have. Once it is started, its progress takes the form's place.
import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import type { Table } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { CheckField, SelectField, TextField } from '../../parts/form/fields.tsx';
import { Form } from '../../parts/form/form.tsx';
import { useExportWords } from '../export-words.ts';
import type { Export, NewExport } from '../queries.ts';
import { ColumnsChoice } from './columns-choice.tsx';
import { ExportProgress } from './export-progress.tsx';
import { type ExportedView, newExport, seenColumns } from './new-export.ts';
import { SeenRows } from './seen-rows.tsx';

type ExportFormProps = {
  table: Table;
  /** What is seen of the table; undefined: all of its rows. */
  view?: ExportedView;
  onStart?: () => void;
  onClose: () => void;
};

const formats: Export['format'][] = ['xlsx', 'csv', 'tsv', 'json', 'ndjson', 'parquet'];

export function ExportForm({ table, view, onStart, onClose }: ExportFormProps) {
  const { t } = useLingui();
  const words = useExportWords();
  const [format, setFormat] = useState<Export['format']>('xlsx');
  const [isForEditing, setIsForEditing] = useState(false);
  const [columns, setColumns] = useState(() => seenColumns(table, view));
  const hasReferences = table.column_definitions.some((column) => column.foreign_key_table_id !== null);
  const hasKey = table.column_definitions.some((column) => column.is_primary_key);
  const act = useAct((body: NewExport) => client.post('/exports', { body }), {
    changes: [['exports']],
    ...(onStart && { onDone: onStart }),
  });
  if (act.data) return <ExportProgress id={act.data.id} onClose={onClose} />;
  const submit = (values: Record<string, string>) => {
    const asOf = view ? view.asOf : instantOf(values.as_of);
    const choices = {
      ...{ format, columns, asOf, isForEditing },
      hasSystemColumns: values.system_columns === 'on',
      hasLabels: values.labels === 'on',
    };
    act.mutate(newExport(table, choices, view));
  };
  return (
    <Form
      onSubmit={submit}
      error={act.error}
      submit={<Trans>Export</Trans>}
      isPending={act.isPending}
      onCancel={onClose}
    >
      {view && <SeenRows table={table} view={view} />}
      <SelectField
        name="format"
        label={t`Format`}
        options={formats.map((id) => ({ id, name: words.format[id] }))}
        defaultValue={format}
        onChange={(id) => setFormat(formats.find((one) => one === id) ?? format)}
      />
      {format === 'xlsx' && hasKey && (
        <CheckField
          name="for_editing"
          isChecked={isForEditing}
          label={t`To edit in Excel and import again`}
          help={t`With lists to choose from. The import changes what was edited, and overwrites no row that others have changed since.`}
          onChange={setIsForEditing}
        />
      )}
      {!view && (
        <TextField
          name="as_of"
          type="datetime-local"
          label={t`As of`}
          help={t`The rows as they were then. Empty: as they are now.`}
        />
      )}
      {!(isForEditing && format === 'xlsx') && (
        <>
          <ColumnsChoice columns={table.column_definitions} chosen={columns} onChoose={setColumns} />
          {hasReferences && (
            <CheckField
              name="labels"
              isChecked={view !== undefined}
              label={t`With the labels of references`}
              help={t`Behind each column that refers to another table, a column with what is shown of that row.`}
            />
          )}
          <CheckField
            name="system_columns"
            label={t`With the columns of the system`}
            help={t`The id of each row, and when it was made and changed.`}
          />
        </>
      )}
    </Form>
  );
}

// The field has local time without a zone.
function instantOf(typed: string | undefined): string | undefined {
  const time = Date.parse(typed ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
