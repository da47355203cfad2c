// What one does with a branch.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { meQuery } from '../../api/queries.ts';
import { DeployDialog } from '../../changes/proposal/deploy-dialog.tsx';
import { PromoteDialog } from '../../changes/proposal/promote-dialog.tsx';
import { Button, buttonLook } from '../../parts/button.tsx';
import { ChoiceMenu, type MenuAction } from '../../parts/choice-menu.tsx';
import pageStyles from '../../parts/page.module.css';
import type { BranchDetails } from '../branch-query.ts';
import { DeleteBranchDialog } from '../dialogs/delete-branch-dialog.tsx';
import { EditBranchDialog } from '../dialogs/edit-branch-dialog.tsx';
import { NewBranchDialog } from '../dialogs/new-branch-dialog.tsx';
import { useMayBranch } from '../policy/use-may-branch.ts';

type Opened = 'promote' | 'deploy' | 'edit' | 'delete' | 'new';

export function BranchActs({ branch }: { branch: BranchDetails }) {
  const { t } = useLingui();
  const { data: me } = useQuery(meQuery);
  const { mayBranch } = useMayBranch();
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const { id, can = [], can_not: canNot = {}, parent, is_default: isDefault } = branch;
  const action = (act: Opened, name: string): MenuAction => ({ id: act, name, onAct: () => setOpened(act) });
  const actions = [
    ...(mayBranch ? [action('new', t`New branch from it…`)] : []),
    ...(can.includes('update') ? [action('edit', t`Change…`)] : []),
    ...(can.includes('delete') ? [action('delete', t`Delete…`)] : []),
  ];
  return (
    <div className={pageStyles.tools}>
      <Link to="/tables" search={{ branch: isDefault ? undefined : id }} className={buttonLook('plain')}>
        <Trans>Open its tables</Trans>
      </Link>
      {parent && (
        <Link
          to="/compare"
          search={({ branch: of }) => ({ branch: of, left: String(parent.id), right: String(id) })}
          className={buttonLook('plain')}
        >
          <Trans>Compare</Trans>
        </Link>
      )}
      {me?.abilities.branching && (
        <>
          <Button onPress={() => setOpened('deploy')}>
            <Trans>Deploy…</Trans>
          </Button>
          {!isDefault && (
            <Button kind="primary" onPress={() => setOpened('promote')}>
              <Trans>Promote…</Trans>
            </Button>
          )}
        </>
      )}
      {actions.length > 0 && (
        <ChoiceMenu label={t`More acts`} groups={[]} actions={actions}>
          <Ellipsis size={16} aria-hidden />
        </ChoiceMenu>
      )}
      {canNot.delete && !isDefault && <p className={pageStyles.quiet}>{canNot.delete}</p>}
      {opened === 'promote' && <PromoteDialog from={branch} toId={parent?.id ?? null} onClose={close} />}
      {opened === 'deploy' && <DeployDialog branch={branch} onClose={close} />}
      {opened === 'edit' && <EditBranchDialog branch={branch} onClose={close} />}
      {opened === 'delete' && <DeleteBranchDialog branch={branch} onClose={close} />}
      {opened === 'new' && <NewBranchDialog parentId={id} onClose={close} />}
    </div>
  );
}
