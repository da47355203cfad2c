import { Trans } from '@lingui/react/macro';
import type { Column } from '../../api/queries.ts';
import styles from '../exports.module.css';

type ColumnsChoiceProps = {
  columns: Column[];
  /** The names; empty for all of them. */
  chosen: string[];
  onChoose: (names: string[]) => void;
};

/** Which columns the file has. The last one that is ticked can't be left out. */
export function ColumnsChoice({ columns, chosen, onChoose }: ColumnsChoiceProps) {
  const names = chosen.length === 0 ? columns.map(({ name }) => name) : chosen;
  const toggle = (name: string, isTicked: boolean) =>
    onChoose(isTicked ? [...names, name] : names.filter((other) => other !== name));
  return (
    <fieldset className={styles.columns}>
      <legend>
        <Trans>
          Columns: {names.length} of {columns.length}
        </Trans>
      </legend>
      <div className={styles.ticks}>
        {columns.map(({ name }) => {
          const isTicked = names.includes(name);
          return (
            <label key={name}>
              <input
                type="checkbox"
                checked={isTicked}
                disabled={isTicked && names.length === 1}
                onChange={({ target }) => toggle(name, target.checked)}
              />
              {name}
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}
