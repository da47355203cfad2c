import { Plural, Trans } from '@lingui/react/macro';
import styles from './operations.module.css';

type ListLineProps = {
  count: number;
  unchanged: number;
  areAllShown: boolean;
  onAllShown: (areShown: boolean) => void;
};

/** How many changes there are, and the columns that none of them changes: folded, or shown. */
export function ListLine({ count, unchanged, areAllShown, onAllShown }: ListLineProps) {
  return (
    <div className={styles.line}>
      <span>
        <Plural value={count} one="# change" other="# changes" />
      </span>
      {unchanged > 0 && (
        <button
          type="button"
          className={styles.fold}
          aria-pressed={areAllShown}
          onClick={() => onAllShown(!areAllShown)}
        >
          <Plural value={unchanged} one="# column unchanged" other="# columns unchanged" />
          {' · '}
          {areAllShown ? <Trans>hide</Trans> : <Trans>show</Trans>}
        </button>
      )}
    </div>
  );
}
