import { useLingui } from '@lingui/react/macro';
import type { ChangeKind } from './change-kinds.ts';

/** A word for each kind of change. */
export function useChangeWords(): Record<ChangeKind, string> {
  const { t } = useLingui();
  return { created: t`new`, updated: t`changed`, deleted: t`deleted` };
}
