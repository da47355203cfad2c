import { useLingui } from '@lingui/react/macro';
import type { Schemas } from '../../api/client.ts';

type Names = { left: string; right: string };

/** How the structures of a table differ on two branches, in a few words. */
export function useStructureWord({ left, right }: Names): (diff: Schemas['TableDiff']) => string {
  const { t } = useLingui();
  const words = {
    new: t`not on ${left}`,
    deleted: t`not on ${right}`,
    modified: t`other structure`,
    unchanged: t`same structure`,
  };
  return ({ change }) => words[change];
}
