import { useLingui } from '@lingui/react/macro';
import styles from '../parts/page.module.css';
import { type StateWord, useApprovalWords } from '../parts/review/approval-words.ts';
import type { ChangeStatus } from './change-queries.ts';

/** The words and colours of the states of promotions and deployments, and of their steps. */
export function useChangeStates(): { status: Record<ChangeStatus, StateWord>; step: Record<string, string> } {
  const { t } = useLingui();
  const shared = useApprovalWords();
  return {
    status: {
      ...shared.status,
      created: { name: t`draft`, style: '' },
      promoting: { name: t`being promoted`, style: styles.accent },
      promoted: { name: t`promoted`, style: styles.ok },
      deploying: { name: t`being deployed`, style: styles.accent },
      deployed: { name: t`deployed`, style: styles.ok },
      abandoned: { name: t`abandoned`, style: '' },
    },
    step: {
      ...shared.step,
      promote: t`promotion begun`,
      deploy: t`deployment begun`,
      succeed: t`done`,
      fail: t`failed`,
      abandon: t`abandoned`,
    },
  };
}
