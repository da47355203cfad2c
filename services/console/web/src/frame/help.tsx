import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { singleKeysAreOn, switchSingleKeys } from '../keys/shortcuts.ts';
import { ModalDialog } from '../parts/modal-dialog.tsx';
import styles from './help.module.css';

/** The keys of the console. */
export function Help({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
  const [areOn, setAreOn] = useState(singleKeysAreOn);
  const keys: [string[], string][] = [
    [['Ctrl', 'K'], t`search tables, pages and commands`],
    [['/'], t`search on this page`],
    [['g', 'h'], t`go home`],
    [['g', 't'], t`go to the tables`],
    [['g', 'r'], t`go to the change requests`],
    [['?'], t`this help`],
    [['↑', '↓', '←', '→'], t`move in a table`],
    [['Shift', '↑', '↓', '←', '→'], t`select a range of cells; with Ctrl: as far as it goes`],
    [['Ctrl', 'G'], t`go to a row by its number`],
    [['Enter'], t`edit the cell, or open the row where one may not; in the head of a column: sort`],
    [['Alt', 'Enter'], t`open or close the row beside the table`],
    [[']'], t`close the row`],
    [['Ctrl', 'Enter'], t`in the head of a column: filter`],
    [['Space'], t`select the row`],
    [['Ctrl', 'C'], t`copy the cell, the range, or the selected rows`],
    [['Ctrl', 'V'], t`paste a block of cells, or rows by their keys`],
    [['Delete'], t`clear the cell, or the range`],
    [['Ctrl', 'D'], t`fill the range down from its first row; Ctrl R: to the right`],
    [['Ctrl', 'Shift', 'Delete'], t`delete the row, or the selected rows`],
    [['Ctrl', 'S'], t`save or propose the changes`],
    [['Ctrl', 'Z'], t`undo; with Shift: do again`],
    [['Tab'], t`leave the table`],
    [['j', 'k'], t`review: next and previous change`],
    [['n', 'p'], t`review: next and previous undecided change`],
    [['y', 'x', 'r'], t`review: accept, reject or return the change`],
    [['c'], t`review: comment on the change`],
    [['1', '2', '3'], t`conflict: keep mine, take theirs, another value`],
    [['v'], t`review: mark the table as viewed`],
    [['Ctrl', 'Enter'], t`review: finish, send or apply; in a comment: send it`],
  ];
  return (
    <ModalDialog label={t`Keyboard shortcuts`} onClose={onClose}>
      <dl className={styles.keys}>
        {keys.map(([combination, does]) => (
          <div key={does} style={{ display: 'contents' }}>
            <dt>
              {combination.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className={styles.switch}>
        <input
          type="checkbox"
          checked={areOn}
          onChange={({ target }) => {
            switchSingleKeys(target.checked);
            setAreOn(target.checked);
          }}
        />
        <Trans>Keys without Ctrl act too</Trans>
      </label>
    </ModalDialog>
  );
}
