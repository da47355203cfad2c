import { useLingui } from '@lingui/react/macro';
import type { ChangeKind } from '../import-address.ts';

/** The operation of each kind of change, whose sign it has. */
export const operationOf = { created: 'create', updated: 'update', deleted: 'delete' } as const;

/** A word for each kind of change. */
export function useChangeWords(): Record<ChangeKind, string> {
  const { t } = useLingui();
  return { created: t`new`, updated: t`changed`, deleted: t`deleted` };
}
