import { Trans } from '@lingui/react/macro';
import { CircleAlert, CircleDashed } from 'lucide-react';
import type { ReactNode } from 'react';
import { explainError } from '../../api/explain-error.ts';
import pageStyles from '../page.module.css';
import styles from './review.module.css';

type CheckStatusProps = {
  isFetching: boolean;
  error: unknown;
  checking: ReactNode;
  unchecked: ReactNode;
  /** What was found; undefined before. */
  children: ReactNode;
};

/** How far a rehearsal is, and what it has found. */
export function CheckStatus({ isFetching, error, checking, unchecked, children }: CheckStatusProps) {
  return (
    <p role="status" className={styles.verdict}>
      {isFetching ? (
        <>
          <CircleDashed size={16} aria-hidden /> {checking}
        </>
      ) : error ? (
        <span className={pageStyles.bad}>
          <CircleAlert size={16} aria-hidden /> <Trans>The check failed:</Trans> {explainError(error).lines.join(' ')}
        </span>
      ) : (
        (children ?? (
          <>
            <CircleDashed size={16} aria-hidden /> {unchecked}
          </>
        ))
      )}
    </p>
  );
}
