import { useLingui } from '@lingui/react/macro';
import type { Right } from './rights.ts';

type RightWords = Record<Right, { name: string; help: string }>;

/** The rights by name, and what each allows. */
export function useRightWords(): RightWords {
  const { t } = useLingui();
  return {
    view: { name: t`View`, help: t`Read and export rows, and see how tables are made.` },
    edit: { name: t`Edit`, help: t`Change and import rows, or propose changes. Holds “View”.` },
    develop: { name: t`Develop`, help: t`Change how tables are made, deploy and promote. Holds “Edit”.` },
    admin: {
      name: t`Administer`,
      help: t`Delete and protect what is there. On the account: everything, with people, groups and applications. Holds “Develop”.`,
    },
    approve: {
      name: t`Approve`,
      help: t`Decide on change requests, deployments and promotions to a branch, and see what is deployed there.`,
    },
  };
}
