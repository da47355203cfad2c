// Deletes a branch, after it has said what goes with it and what stands in the way.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { branchesQuery, definitionsQuery } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { isEnded, promotionsQuery } from '../../changes/change-queries.ts';
import { ConfirmDialog } from '../../parts/form/confirm-dialog.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import type { BranchDetails } from '../branch-query.ts';

type DeleteBranchDialogProps = { branch: BranchDetails; onClose: () => void };

export function DeleteBranchDialog({ branch, onClose }: DeleteBranchDialogProps) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { data: branches = [] } = useQuery(branchesQuery);
  const { data: definitions } = useQuery(definitionsQuery(branch.id));
  const { data: promotions = [] } = useQuery(promotionsQuery(branch.id));
  const children = branches.filter(({ parent_branch_id }) => parent_branch_id === branch.id);
  const open = promotions.filter(({ status }) => !isEnded(status)).length;
  const remove = useAct(() => client.delete('/branches/{id}', { params: { path: { id: branch.id } } }), {
    changes: [['branches'], ['promotions'], ['deployments'], ['inbox']],
    // The address may have the branch that is no more.
    onDone: () => void navigate({ to: '/branches', search: { branch: undefined } }),
  });
  if (children.length > 0)
    return (
      <ModalDialog label={t`${branch.name} can’t be deleted yet`} onClose={onClose}>
        <p>
          <Trans>Branches were made from it. Delete these first:</Trans>
        </p>
        <ul>
          {children.map(({ id, name }) => (
            <li key={id}>
              <Link to="/branches/$id" params={{ id: String(id) }} onClick={onClose}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </ModalDialog>
    );
  return (
    <ConfirmDialog
      label={t`Delete ${branch.name}?`}
      submit={<Trans>Delete the branch</Trans>}
      act={remove}
      onClose={onClose}
    >
      <p>
        {definitions && (
          <Plural
            value={definitions.length}
            one="# table goes with it, with its rows."
            other="# tables go with it, with their rows."
          />
        )}{' '}
        <Trans>What was promoted from it stays. This can’t be taken back.</Trans>
      </p>
      {open > 0 && (
        <p>
          <Plural
            value={open}
            one="# promotion of it is open, and can’t be promoted any more."
            other="# promotions of it are open, and can’t be promoted any more."
          />
        </p>
      )}
    </ConfirmDialog>
  );
}
