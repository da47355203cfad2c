import { useLingui } from '@lingui/react/macro';
import { Check, CornerUpLeft, Trash2, X } from 'lucide-react';
import type { ReactNode } from 'react';
import pageStyles from '../../parts/page.module.css';
import { decisionOf, type Verb } from '../decisions/decide-pages.ts';
import type { Operation } from '../queries.ts';
import { useRequestWords } from '../request-words.ts';
import styles from './operation.module.css';
import type { May, RowActs } from './row-acts.ts';

type DecisionButtonsProps = {
  operation: Pick<Operation, 'id' | 'decision'>;
  /** The key of the row. */
  name: string;
  may: May;
  acts: RowActs;
  /** -1 where another row has the tab stop. */
  tabIndex?: number;
};

/**
 * How an operation is decided, and the buttons to decide it; a pressed one takes its decision back.
 */
export function DecisionButtons({ operation: { id, decision }, name, may, acts, tabIndex = 0 }: DecisionButtonsProps) {
  const { t } = useLingui();
  const words = useRequestWords();
  const button = (verb: Verb, label: string, keys: string, icon: ReactNode) => {
    const isChosen = decisionOf[verb] === decision;
    return (
      <button
        type="button"
        className={styles.decide}
        data-verb={verb}
        tabIndex={tabIndex}
        aria-label={label}
        aria-pressed={isChosen}
        title={`${label} (${keys})`}
        onClick={() => acts.decide(id, isChosen ? 'undecided' : verb)}
      >
        {icon}
      </button>
    );
  };
  return (
    <div className={styles.decision}>
      {may === 'decide' && (
        <span className={styles.buttons}>
          {button('accept', t`Accept ${name}`, 'y', <Check size={16} aria-hidden />)}
          {button('reject', t`Reject ${name}`, 'x', <X size={16} aria-hidden />)}
          {button('return', t`Return ${name}`, 'r', <CornerUpLeft size={16} aria-hidden />)}
        </span>
      )}
      {may === 'edit' && (
        <button
          type="button"
          className={styles.decide}
          tabIndex={tabIndex}
          aria-label={t`Take ${name} out of the request`}
          title={t`Take it out of the request`}
          onClick={() => acts.takeOut([id])}
        >
          <Trash2 size={16} aria-hidden />
        </button>
      )}
      {(decision !== 'undecided' || may === undefined) && (
        <span className={`${pageStyles.pill} ${words.decision[decision].style}`}>{words.decision[decision].name}</span>
      )}
    </div>
  );
}
