import { useLingui } from '@lingui/react/macro';
import type { Table } from '../../api/queries.ts';
import formStyles from '../../parts/form/form.module.css';
import type { Entry } from './mapping.ts';

type LookupChoiceProps = {
  entry: Entry;
  /** Undefined where one may not view it. */
  referenced: Table | undefined;
  onChoose: (lookup: Entry['lookup']) => void;
};

/** What the cells of a column have that refers to another table: the key, or another value. */
export function LookupChoice({ entry: { source_column, lookup }, referenced, onChoose }: LookupChoiceProps) {
  const { t } = useLingui();
  if (referenced === undefined) return null;
  const { name, column_definitions } = referenced;
  const keys = column_definitions.filter(({ is_primary_key }) => is_primary_key);
  const others = column_definitions.filter(({ is_primary_key }) => !is_primary_key);
  // A reference of several columns can't be looked up.
  if (keys.length !== 1) return null;
  return (
    <select
      className={formStyles.input}
      aria-label={t`What the cells of ${source_column} have`}
      value={String(lookup)}
      onChange={({ target: { value } }) => onChoose(value === 'false' ? false : value === 'true' ? true : value)}
    >
      <option value="false">{t`has the key of ${name}: ${keys[0]?.name ?? ''}`}</option>
      <option value="true">{t`has the label of ${name}`}</option>
      {others.map((column) => (
        <option key={column.name} value={column.name}>
          {t`has ${column.name} of ${name}`}
        </option>
      ))}
    </select>
  );
}
