import { Trans } from '@lingui/react/macro';
import { singleKeysAreOn } from '../../keys/shortcuts.ts';
import styles from './steps.module.css';

/** The keys that decide rows, for those who may, and have not switched them off. */
export function KeysHint() {
  if (!singleKeysAreOn()) return null;
  return (
    <p className={styles.keys} aria-hidden>
      <Trans>
        <kbd>j</kbd> <kbd>k</kbd> move
      </Trans>
      {' · '}
      <Trans>
        <kbd>y</kbd> <kbd>x</kbd> <kbd>r</kbd> decide
      </Trans>
      {' · '}
      <Trans>
        <kbd>n</kbd> next undecided
      </Trans>
    </p>
  );
}
