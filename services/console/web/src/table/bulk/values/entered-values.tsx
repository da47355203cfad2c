// The values that all matches get, as they are entered.
import { Trans, useLingui } from '@lingui/react/macro';
import { type ReactElement, useState } from 'react';
import type { Table } from '../../../api/queries.ts';
import { habitsOf } from '../../../cells/typed-values.ts';
import { localeOf } from '../../../language/locale.ts';
import pageStyles from '../../../parts/page.module.css';
import styles from '../bulk.module.css';
import { type ChosenColumn, ChosenValues } from './chosen-values.tsx';
import { readNewValues } from './new-values.ts';

export type EnteredValues = {
  set: Record<string, unknown>;
  /** Why they can't be sent. */
  problems: { field?: string; message: string }[];
};

type Options = { table: Table; tables: readonly Table[]; onChange: () => void };

/** The fields, and what is typed into them, read by the types of their columns. */
export function useEnteredValues({ table, tables, onChange }: Options): {
  fields: ReactElement;
  read: (typed: Record<string, string>) => EnteredValues;
} {
  const { t, i18n } = useLingui();
  const [chosen, setChosen] = useState<ChosenColumn[]>([{ line: 0, column: undefined }]);
  const read = (typed: Record<string, string>): EnteredValues => {
    const columns = chosen.flatMap(({ column }) => column ?? []);
    const { set, missing, malformed } = readNewValues(typed, columns, habitsOf(localeOf(i18n.locale)));
    if (columns.length === 0) return { set, problems: [{ message: t`Choose a column.` }] };
    return {
      set,
      problems: [
        ...missing.map((field) => ({ field, message: t`Enter a value for ${field}, or tick that it has none.` })),
        ...malformed.map((field) => ({
          field,
          message: t`${field} is not JSON. Texts in it stand in double quotes.`,
        })),
      ],
    };
  };
  const fields = (
    <fieldset className={styles.values} onChange={onChange}>
      <legend className={pageStyles.hidden}>
        <Trans>New values</Trans>
      </legend>
      <ChosenValues
        columns={table.column_definitions.toSorted((a, b) => a.position - b.position)}
        tables={tables}
        chosen={chosen}
        onChoose={(next) => {
          onChange();
          setChosen(next);
        }}
      />
    </fieldset>
  );
  return { fields, read };
}
