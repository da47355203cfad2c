import { useLingui } from '@lingui/react/macro';
import styles from '../parts/page.module.css';
import type { ChangeStatus } from './change-queries.ts';

type Word = { name: string; style: string | undefined };

/** The words and colours of the states of promotions and deployments, and of their steps. */
export function useChangeStates(): { status: Record<ChangeStatus, Word>; step: Record<string, string> } {
  const { t } = useLingui();
  return {
    status: {
      created: { name: t`draft`, style: '' },
      requested: { name: t`to review`, style: styles.accent },
      promoting: { name: t`being promoted`, style: styles.accent },
      promoted: { name: t`promoted`, style: styles.ok },
      deploying: { name: t`being deployed`, style: styles.accent },
      deployed: { name: t`deployed`, style: styles.ok },
      failed: { name: t`failed`, style: styles.bad },
      rejected: { name: t`rejected`, style: styles.bad },
      cancelled: { name: t`cancelled`, style: '' },
      abandoned: { name: t`abandoned`, style: '' },
    },
    step: {
      create: t`created`,
      send_request: t`sent for review`,
      promote: t`promotion begun`,
      deploy: t`deployment begun`,
      succeed: t`done`,
      fail: t`failed`,
      reject: t`rejected`,
      cancel: t`cancelled`,
      abandon: t`abandoned`,
    },
  };
}
