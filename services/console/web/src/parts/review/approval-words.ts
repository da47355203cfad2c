import { useLingui } from '@lingui/react/macro';
import styles from '../page.module.css';

/** A state as people read it, with its colour. */
export type StateWord = { name: string; style: string | undefined };

/** The words for states and steps that all things to be approved have. */
export function useApprovalWords() {
  const { t } = useLingui();
  return {
    status: {
      requested: { name: t`to review`, style: styles.accent },
      failed: { name: t`failed`, style: styles.bad },
      rejected: { name: t`rejected`, style: styles.bad },
      cancelled: { name: t`cancelled`, style: '' },
    },
    step: { create: t`created`, send_request: t`sent for review`, reject: t`rejected`, cancel: t`cancelled` },
  };
}
