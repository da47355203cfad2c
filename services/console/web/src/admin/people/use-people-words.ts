import { useLingui } from '@lingui/react/macro';
import pageStyles from '../../parts/page.module.css';
import type { User } from '../queries.ts';

type PeopleWords = {
  status: Record<User['status'], { name: string; style: string | undefined }>;
  license: Record<User['license_type'], { name: string; help: string }>;
};

export function usePeopleWords(): PeopleWords {
  const { t } = useLingui();
  return {
    status: {
      invited: { name: t`invited`, style: pageStyles.warn },
      active: { name: t`active`, style: pageStyles.ok },
      suspended: { name: t`deactivated`, style: pageStyles.bad },
    },
    license: {
      developer: { name: t`Developer`, help: t`May do all that their groups allow.` },
      end_user: { name: t`End user`, help: t`May view, edit and approve, whatever else their groups allow.` },
    },
  };
}
