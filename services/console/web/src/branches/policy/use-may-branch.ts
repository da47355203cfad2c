import { useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/queries.ts';
import { mayMakeBranches } from './branch-rights.ts';

type MayBranch = { mayBranch: boolean; whyNot: string | undefined };

/** Whether the person may make branches, and if not, why; neither before it is known. */
export function useMayBranch(): MayBranch {
  const { t } = useLingui();
  const { data: me } = useQuery(meQuery);
  if (!me) return { mayBranch: false, whyNot: undefined };
  if (!me.abilities.branching)
    return { mayBranch: false, whyNot: t`The plan of the account is without branches, promotions and deployments.` };
  if (!mayMakeBranches(me.rights))
    return { mayBranch: false, whyNot: t`Branches are made by those who may develop tables.` };
  return { mayBranch: true, whyNot: undefined };
}
