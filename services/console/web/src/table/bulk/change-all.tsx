// Changes columns of all matches: values are entered, checked, and then written as one.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import type { Table } from '../../api/queries.ts';
import { habitsOf } from '../../cells/typed-values.ts';
import { localeOf } from '../../language/language.ts';
import { Form } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import styles from './bulk.module.css';
import { type ChosenColumn, ChosenValues } from './chosen-values.tsx';
import { type NewValues, readNewValues } from './new-values.ts';
import { Outcome } from './outcome.tsx';
import { SignedOut } from './signed-out.tsx';
import { useBulkWrite, type Written } from './use-bulk-write.ts';
import type { Matches } from './use-matches.ts';

export type BulkFormProps = {
  table: Table;
  tables: readonly Table[];
  matches: Matches | undefined;
  onMoved: () => void;
  onDone: (written: Written) => void;
  onClose: () => void;
};

export function ChangeAll({ table, tables, matches, onMoved, onDone, onClose }: BulkFormProps) {
  const { t, i18n } = useLingui();
  const [chosen, setChosen] = useState<ChosenColumn[]>([{ line: 0, column: undefined }]);
  const [refusal, setRefusal] = useState<object>();
  const writing = useBulkWrite({ table, onDone, onMoved });
  const { checked, isReady } = writing;
  const explain = ({ missing, malformed }: NewValues) => [
    ...missing.map((field) => ({ field, message: t`Enter a value for ${field}, or tick that it has none.` })),
    ...malformed.map((field) => ({ field, message: t`${field} is not JSON. Texts in it stand in double quotes.` })),
  ];
  const submit = (typed: Record<string, string>) => {
    if (isReady) return writing.act();
    if (!matches) return;
    const columns = chosen.flatMap(({ column }) => column ?? []);
    const values = readNewValues(typed, columns, habitsOf(localeOf(i18n.locale)));
    const problems = columns.length === 0 ? [{ message: t`Choose a column.` }] : explain(values);
    setRefusal(problems.length > 0 ? { status: 422, problems } : undefined);
    if (problems.length === 0) writing.check({ selection: matches.selection, set: values.set });
  };
  const changed = () => {
    setRefusal(undefined);
    writing.drop();
  };
  return (
    <Form
      error={refusal ?? writing.error}
      isPending={writing.isPending || !matches || matches.obstacle !== undefined}
      submit={
        isReady && checked ? (
          <Plural value={checked.changing} one="Change # row" other="Change # rows" />
        ) : checked || writing.moved ? (
          <Trans>Check again</Trans>
        ) : (
          <Trans>Check</Trans>
        )
      }
      onCancel={onClose}
      onSubmit={submit}
    >
      <SignedOut error={writing.error} />
      <fieldset className={styles.values} onChange={changed}>
        <legend className={pageStyles.hidden}>
          <Trans>New values</Trans>
        </legend>
        <ChosenValues
          columns={table.column_definitions.toSorted((a, b) => a.position - b.position)}
          tables={tables}
          chosen={chosen}
          onChoose={(next) => {
            changed();
            setChosen(next);
          }}
        />
      </fieldset>
      <Outcome writing={writing} />
    </Form>
  );
}
