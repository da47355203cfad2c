import type { ReactNode } from 'react';
import pageStyles from '../parts/page.module.css';
import { Person } from '../parts/person.tsx';
import styles from '../parts/review/review.module.css';
import { Verdict } from '../parts/review/verdict.tsx';
import { Time } from '../parts/time.tsx';

type DoneProps = {
  title: ReactNode;
  by: number | null;
  at: string | null;
  /** What else came of it. */
  note?: ReactNode;
  /** What is left to do. */
  children?: ReactNode;
};

/** Says that a change is applied, by whom and when. */
export function Done({ title, by, at, note, children }: DoneProps) {
  return (
    <div className={`${styles.notice} ${styles.done}`}>
      <p className={styles.verdict}>
        <Verdict isGood>{title}</Verdict>
        <span className={pageStyles.quiet}>
          <Person id={by} />
          {at && (
            <>
              {' · '}
              <Time instant={at} />
            </>
          )}
        </span>
        {note}
      </p>
      {children}
    </div>
  );
}
