import { Trans } from '@lingui/react/macro';
import type { Branch } from '../api/queries.ts';
import styles from '../parts/page.module.css';

type BranchPillsProps = { branch: Pick<Branch, 'is_default' | 'is_protected' | 'branch_type'> };

/** What a branch is besides its name. */
export function BranchPills({ branch: { is_default, is_protected, branch_type } }: BranchPillsProps) {
  return (
    <>
      {is_default && (
        <span className={styles.pill}>
          <Trans>default</Trans>
        </span>
      )}{' '}
      {is_protected && (
        <span className={`${styles.pill} ${styles.accent}`}>
          <Trans>protected</Trans>
        </span>
      )}{' '}
      {branch_type === 'private' && (
        <span className={styles.pill}>
          <Trans>private</Trans>
        </span>
      )}
    </>
  );
}
