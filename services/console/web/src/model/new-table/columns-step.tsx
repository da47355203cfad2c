// The second step: what the table is called, and its columns, before anything is stored.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/form/fields.tsx';
import { Form, Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { ColumnFields } from './column-fields.tsx';
import { emptyColumn, moveColumn, type NewColumn } from './draft-columns.ts';
import { ColumnRefused } from './make-table.ts';
import styles from './new-table.module.css';

type ColumnsStepProps = {
  name: string;
  columns: NewColumn[];
  /** Undefined for a table without a file. */
  fileName: string | undefined;
  domain: ReactNode;
  error: unknown;
  isPending: boolean;
  onMake: (name: string, columns: NewColumn[]) => void;
  onBack: () => void;
};

export function ColumnsStep(props: ColumnsStepProps) {
  const { fileName, domain, error, isPending, onMake, onBack } = props;
  const { t } = useLingui();
  const [columns, setColumns] = useState(props.columns);
  const refused = error instanceof ColumnRefused ? error : undefined;
  const change = (id: string, part: Partial<NewColumn>) =>
    setColumns((before) => before.map((column) => (column.id === id ? { ...column, ...part } : column)));
  return (
    <Form
      error={refused ? undefined : error}
      isPending={isPending || columns.length === 0}
      submit={
        <Plural value={columns.length} one="Make the table with # column" other="Make the table with # columns" />
      }
      onCancel={onBack}
      onSubmit={({ name = '' }) => onMake(name, columns)}
    >
      {refused && (
        <div>
          <p>
            <Trans>
              The column <code>{refused.column.name}</code> was refused, so no table was made.
            </Trans>
          </p>
          <Refusal error={refused.refusal} />
        </div>
      )}
      <div className={styles.pair}>
        <TextField name="name" label={<Trans>Name</Trans>} defaultValue={props.name} autoFocus isRequired />
        {domain}
      </div>
      <section aria-labelledby="new-columns">
        <h2 id="new-columns">
          <Trans>Columns</Trans>
        </h2>
        {fileName && (
          <p className={pageStyles.quiet}>
            <Trans>Guessed from the beginning of {fileName}. Nothing is stored yet.</Trans>
          </p>
        )}
        {!columns.some(({ is_primary_key }) => is_primary_key) && (
          <p className={pageStyles.quiet}>
            <Trans>No column is of the key. A table takes one to be deployed: what names a row.</Trans>
          </p>
        )}
        <ol className={styles.columns} aria-label={t`Columns`}>
          {columns.map((column, place) => (
            <ColumnFields
              key={column.id}
              column={column}
              place={place + 1}
              count={columns.length}
              isRefused={refused?.column.id === column.id}
              onChange={(part) => change(column.id, part)}
              onMove={(by) => setColumns(moveColumn(columns, column.id, by))}
              onRemove={() => setColumns(columns.filter(({ id }) => id !== column.id))}
            />
          ))}
        </ol>
        <Button onPress={() => setColumns([...columns, emptyColumn()])}>
          <Plus size={16} aria-hidden />
          <Trans>Add a column</Trans>
        </Button>
      </section>
      <p className={pageStyles.quiet}>
        <Trans>References, valid values and descriptions are given afterwards, in its structure.</Trans>
      </p>
    </Form>
  );
}
