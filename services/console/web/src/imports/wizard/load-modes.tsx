import { Trans } from '@lingui/react/macro';
import { useImportWords } from '../import-words.ts';
import type { ImportTable } from '../queries.ts';
import styles from '../wizard.module.css';

type Pattern = ImportTable['pattern'];
type LoadModesProps = { chosen: Pattern; onChoose: (pattern: Pattern) => void };

const patterns: Pattern[] = ['incremental', 'full', 'incremental_with_delete'];

/** The ways to load a file, each with what it does to the rows of the table. */
export function LoadModes({ chosen, onChoose }: LoadModesProps) {
  const words = useImportWords();
  return (
    <fieldset className={styles.modes}>
      <legend>
        <Trans>What the file does</Trans>
      </legend>
      {patterns.map((pattern) => (
        <label key={pattern} className={styles.mode}>
          <input type="radio" name="pattern" checked={pattern === chosen} onChange={() => onChoose(pattern)} />
          <span>
            <span className={styles.modeName}>{words.pattern[pattern].name}</span>
            <span className={styles.note}>{words.pattern[pattern].help}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
