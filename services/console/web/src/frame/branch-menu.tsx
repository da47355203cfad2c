import { useLingui } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown, GitBranch, Shield } from 'lucide-react';
import { useBranch } from '../address/use-branch.ts';
import { ChoiceMenu } from '../parts/choice-menu.tsx';
import styles from './frame.module.css';

/** Shows the branch that one works on, and changes it. The default branch is not in the address. */
export function BranchMenu() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { branch, branches } = useBranch();
  if (!branch) return null;
  const choose = (id: string) => {
    const chosen = branches.find((one) => String(one.id) === id);
    // What is shown stays as it is, as far as the other branch has it.
    void navigate({
      to: '.',
      search: (search) => ({ ...search, branch: chosen?.is_default ? undefined : Number(id) }),
    });
  };
  const choices = branches.map(({ id, name, is_protected }) => ({
    id: String(id),
    name,
    ...(is_protected && { icon: <Shield size={14} aria-hidden />, note: t`protected` }),
  }));
  return (
    <ChoiceMenu
      label={t`Branch: ${branch.name}`}
      groups={[{ id: 'branch', title: t`Branch`, choices, chosen: String(branch.id), onChoose: choose }]}
      actions={[{ id: 'all', name: t`All branches`, onAct: () => void navigate({ to: '/branches' }) }]}
    >
      <span className={`${styles.branch} ${branch.is_default ? '' : styles.beside}`}>
        {branch.is_protected ? <Shield size={14} aria-hidden /> : <GitBranch size={14} aria-hidden />}
        <span>{branch.name}</span>
        <ChevronDown size={14} aria-hidden />
      </span>
    </ChoiceMenu>
  );
}
