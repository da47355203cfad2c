import { useLingui } from '@lingui/react/macro';
import type { ChangeKind } from '../import-address.ts';

/** The kinds of changes: a word for each, and a sign for the eye. */
export function useChangeWords() {
  const { t } = useLingui();
  return {
    created: { name: t`new`, sign: '+' },
    updated: { name: t`changed`, sign: '~' },
    deleted: { name: t`deleted`, sign: '−' },
  } satisfies Record<ChangeKind, { name: string; sign: string }>;
}
