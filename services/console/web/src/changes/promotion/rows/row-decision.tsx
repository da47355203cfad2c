import { Trans, useLingui } from '@lingui/react/macro';
import pageStyles from '../../../parts/page.module.css';
import { DecideButton } from '../../../parts/review/decide-button.tsx';
import type { PromotedRow } from './promoted-rows-query.ts';
import styles from './row-decision.module.css';

type RowDecisionProps = {
  row: PromotedRow;
  mayDecide: boolean;
  onDecide: (verb: 'accept' | 'undecided') => void;
  /** Asks for the reason first. */
  onReject: () => void;
};

/** How a row of a promotion is decided, and the buttons to decide it for those who may. */
export function RowDecision({ row, mayDecide, onDecide, onReject }: RowDecisionProps) {
  const { t } = useLingui();
  const { decision, comment } = row;
  const name = Object.values(row.key).join(' ');
  const isAccepted = decision === 'accepted';
  const isRejected = decision === 'rejected';
  return (
    <div className={styles.decision}>
      {mayDecide && (
        <span className={styles.buttons}>
          <DecideButton
            verb="accept"
            label={t`Accept ${name}`}
            isChosen={isAccepted}
            onPress={() => onDecide(isAccepted ? 'undecided' : 'accept')}
          />
          <DecideButton
            verb="reject"
            label={t`Reject ${name}`}
            isChosen={isRejected}
            onPress={() => (isRejected ? onDecide('undecided') : onReject())}
          />
        </span>
      )}
      {isAccepted && (
        <span className={`${pageStyles.pill} ${pageStyles.ok}`}>
          <Trans>accepted</Trans>
        </span>
      )}
      {isRejected && (
        <span className={`${pageStyles.pill} ${pageStyles.bad}`}>
          <Trans>rejected</Trans>
        </span>
      )}
      {comment && <p className={styles.comment}>{comment}</p>}
    </div>
  );
}
