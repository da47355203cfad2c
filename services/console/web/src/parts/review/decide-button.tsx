import { Check, CornerUpLeft, X } from 'lucide-react';
import styles from './decide-button.module.css';
import type { Verb } from './verb.ts';

type DecideButtonProps = {
  verb: Exclude<Verb, 'undecided'>;
  label: string;
  /** The key that does the same. */
  shortcut?: string;
  isChosen: boolean;
  /** -1 where another row has the tab stop. */
  tabIndex?: number;
  onPress: () => void;
};

const icons = { accept: Check, reject: X, return: CornerUpLeft } as const;

/** A button that decides one row; pressed, it is the decision, which it takes back. */
export function DecideButton({ verb, label, shortcut, isChosen, tabIndex = 0, onPress }: DecideButtonProps) {
  const Icon = icons[verb];
  return (
    <button
      type="button"
      className={styles.decide}
      data-verb={verb}
      tabIndex={tabIndex}
      aria-label={label}
      aria-pressed={isChosen}
      title={shortcut === undefined ? label : `${label} (${shortcut})`}
      onClick={onPress}
    >
      <Icon size={16} aria-hidden />
    </button>
  );
}
