import { Plural, Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { GitBranch, Lock, Shield } from 'lucide-react';
import type { Branch } from '../../api/queries.ts';
import styles from '../../parts/page.module.css';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import { BranchPills } from '../branch-pills.tsx';
import { BranchDivergence } from '../divergence.tsx';

type BranchLineProps = { branch: Branch /** With which it is compared. */; parent: Branch | undefined };

/** A branch in the tree: how far it is from its parent, whose it is, and how its rows change. */
export function BranchLine({ branch, parent }: BranchLineProps) {
  const { id, name, description, is_protected, branch_type, owner_id: owner } = branch;
  const Icon = is_protected ? Shield : branch_type === 'private' ? Lock : GitBranch;
  return (
    <Link to="/branches/$id" params={{ id: String(id) }} className={styles.line}>
      <Icon size={18} aria-hidden />
      <span className={styles.text}>
        <span className={styles.name}>{name}</span> <BranchPills branch={branch} />
        <span className={styles.note}>
          {owner !== null && (
            <>
              <Person id={owner} />
              {' · '}
            </>
          )}
          {branch.row_changes === 'direct' ? (
            <Trans>rows change directly</Trans>
          ) : (
            <Plural
              value={branch.required_approvals}
              one="rows change by requests with # approval"
              other="rows change by requests with # approvals"
            />
          )}
          {description && ` · ${description}`}
        </span>
      </span>
      <span className={styles.end}>
        {parent && (
          <>
            <BranchDivergence branch={branch} parent={parent} />
            <br />
          </>
        )}
        <Time instant={branch.updated_at} />
      </span>
    </Link>
  );
}
