import { Trans } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import pageStyles from '../parts/page.module.css';
import styles from './diff.module.css';

/** An old value and its new one, which screen readers name. */
export function BeforeAfter({ before, after }: { before: ReactNode; after: ReactNode }) {
  return (
    <>
      <del className={styles.before}>
        <span className={pageStyles.hidden}>
          <Trans>before:</Trans>{' '}
        </span>
        {before}
      </del>{' '}
      <ins className={styles.after}>
        <span className={pageStyles.hidden}>
          <Trans>after:</Trans>{' '}
        </span>
        {after}
      </ins>
    </>
  );
}
