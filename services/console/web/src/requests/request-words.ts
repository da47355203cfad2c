import { useLingui } from '@lingui/react/macro';
import type { Schemas } from '../api/client.ts';
import styles from '../parts/page.module.css';
import { type StateWord, useApprovalWords } from '../parts/review/approval-words.ts';

type Status = Schemas['ChangeRequest']['status'];
type Operation = Schemas['ChangeOperation'];

/** The words and colours of states, kinds and decisions, and of the steps that are taken. */
export function useRequestWords() {
  const { t } = useLingui();
  const shared = useApprovalWords();
  return {
    status: {
      ...shared.status,
      draft: { name: t`draft`, style: '' },
      changes_requested: { name: t`changes requested`, style: styles.warn },
      approved: { name: t`approved`, style: styles.ok },
      applying: { name: t`being applied`, style: styles.accent },
      applied: { name: t`applied`, style: styles.ok },
    } satisfies Record<Status, StateWord>,
    kind: { create: t`new`, update: t`changed`, delete: t`deleted`, restore: t`restored` } satisfies Record<
      Operation['kind'],
      string
    >,
    decision: {
      undecided: { name: t`undecided`, style: '' },
      accepted: { name: t`accepted`, style: styles.ok },
      rejected: { name: t`rejected`, style: styles.bad },
      returned: { name: t`returned`, style: styles.warn },
    } satisfies Record<Operation['decision'], StateWord>,
    step: {
      ...shared.step,
      withdraw: t`withdrawn`,
      request_changes: t`changes requested`,
      approve: t`approved`,
      approve_and_apply: t`approved, and applying begun`,
      apply: t`applying begun`,
      succeed: t`applied`,
      refuse: t`not applied: refused`,
      fail: t`applying failed`,
    } as Record<string, string>,
  };
}
