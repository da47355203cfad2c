import { useLingui } from '@lingui/react/macro';
import { Trash2 } from 'lucide-react';
import pageStyles from '../../parts/page.module.css';
import decideStyles from '../../parts/review/decide-button.module.css';
import { DecideButton } from '../../parts/review/decide-button.tsx';
import { decisionOf } from '../../parts/review/verb.ts';
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
  const verbs = [
    { verb: 'accept', label: t`Accept ${name}`, shortcut: 'y' },
    { verb: 'reject', label: t`Reject ${name}`, shortcut: 'x' },
    { verb: 'return', label: t`Return ${name}`, shortcut: 'r' },
  ] as const;
  return (
    <div className={styles.decision}>
      {may === 'decide' && (
        <span className={styles.buttons}>
          {verbs.map((button) => {
            const isChosen = decisionOf[button.verb] === decision;
            const press = () => acts.decide(id, isChosen ? 'undecided' : button.verb);
            return (
              <DecideButton key={button.verb} {...button} isChosen={isChosen} tabIndex={tabIndex} onPress={press} />
            );
          })}
        </span>
      )}
      {may === 'edit' && (
        <button
          type="button"
          className={decideStyles.decide}
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
