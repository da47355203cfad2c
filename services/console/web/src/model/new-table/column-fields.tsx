import { Trans, useLingui } from '@lingui/react/macro';
import { ArrowDown, ArrowUp, EllipsisVertical, Trash2 } from 'lucide-react';
import { ChoiceMenu, type MenuAction } from '../../parts/choice-menu.tsx';
import formStyles from '../../parts/form/form.module.css';
import { hasLength, isDataType } from '../definition/data-types.ts';
import { useTypeOptions } from '../definition/use-type-options.ts';
import type { NewColumn } from './draft-columns.ts';
import styles from './new-table.module.css';

type ColumnFieldsProps = {
  column: NewColumn;
  /** From 1. */
  place: number;
  count: number;
  isRefused: boolean;
  onChange: (part: Partial<NewColumn>) => void;
  onMove: (by: 1 | -1) => void;
  onRemove: () => void;
};

/** A column of a new table, as a line of fields. */
export function ColumnFields(props: ColumnFieldsProps) {
  const { column, place, isRefused, onChange } = props;
  const { t } = useLingui();
  const types = useTypeOptions();
  // The names of a file and of a table are compared without regard to case.
  const source = column.source?.toLowerCase() === column.name.toLowerCase() ? undefined : column.source;
  const input = { className: formStyles.input, autoComplete: 'off', spellCheck: false } as const;
  return (
    <li className={styles.column} data-refused={isRefused || undefined}>
      <input
        {...input}
        className={`${formStyles.input} ${formStyles.code}`}
        aria-label={t`Name of column ${place}`}
        placeholder={t`name`}
        value={column.name}
        required
        maxLength={63}
        onChange={({ target }) => onChange({ name: target.value })}
      />
      <select
        className={formStyles.input}
        aria-label={t`Type of column ${place}`}
        value={column.data_type}
        onChange={({ target }) => isDataType(target.value) && onChange({ data_type: target.value })}
      >
        {types.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <span className={styles.sizes}>
        {hasLength(column.data_type) && (
          <input
            {...input}
            aria-label={t`Length of column ${place}`}
            placeholder={t`length`}
            inputMode="numeric"
            pattern="[0-9]*"
            value={column.length}
            onChange={({ target }) => onChange({ length: target.value })}
          />
        )}
        {column.data_type === 'decimal' && (
          <input
            {...input}
            aria-label={t`Decimal places of column ${place}`}
            placeholder={t`decimals`}
            inputMode="numeric"
            pattern="[0-9]*"
            value={column.scale}
            onChange={({ target }) => onChange({ scale: target.value })}
          />
        )}
      </span>
      <span className={styles.ticks}>
        <label>
          <input
            type="checkbox"
            checked={column.is_primary_key}
            onChange={({ target }) => onChange({ is_primary_key: target.checked })}
          />
          <Trans>key</Trans>
        </label>
        <label>
          <input
            type="checkbox"
            checked={column.is_required || column.is_primary_key}
            disabled={column.is_primary_key}
            onChange={({ target }) => onChange({ is_required: target.checked })}
          />
          <Trans>required</Trans>
        </label>
      </span>
      <LineMenu {...props} />
      {(source !== undefined || column.notes.length > 0) && (
        <span className={styles.source}>
          {source !== undefined && <Trans>“{source}” in the file</Trans>}
          {column.notes.map((note) => (
            <span key={note} className={styles.warning}>
              {' '}
              {note}
            </span>
          ))}
        </span>
      )}
    </li>
  );
}

function LineMenu({ column, place, count, onMove, onRemove }: ColumnFieldsProps) {
  const { t } = useLingui();
  const actions: (MenuAction | false)[] = [
    place > 1 && { id: 'up', name: t`Move up`, icon: <ArrowUp size={16} aria-hidden />, onAct: () => onMove(-1) },
    place < count && {
      id: 'down',
      name: t`Move down`,
      icon: <ArrowDown size={16} aria-hidden />,
      onAct: () => onMove(1),
    },
    { id: 'remove', name: t`Leave it out`, icon: <Trash2 size={16} aria-hidden />, onAct: onRemove },
  ];
  return (
    <ChoiceMenu
      label={t`Column ${column.name === '' ? place : column.name}`}
      groups={[]}
      actions={actions.filter((action) => action !== false)}
    >
      <EllipsisVertical size={16} aria-hidden />
    </ChoiceMenu>
  );
}
