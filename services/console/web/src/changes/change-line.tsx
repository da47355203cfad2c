// Promotions and deployments as lines of lists.
import { Plural, Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { GitMerge, Rocket } from 'lucide-react';
import styles from '../parts/page.module.css';
import { Person } from '../parts/person.tsx';
import { Time } from '../parts/time.tsx';
import type { ChangeStatus, ListedDeployment, ListedPromotion } from './change-queries.ts';
import { useChangeStates } from './change-words.ts';

/** A promotion in a list: between which branches, what of, and how it stands. */
export function PromotionLine({ promotion }: { promotion: ListedPromotion }) {
  const { id, from_branch, to_branch, status, comment, table_definitions: tables } = promotion;
  return (
    <Link to="/promotions/$id" params={{ id: String(id) }} className={styles.line}>
      <GitMerge size={18} aria-hidden />
      <span className={styles.text}>
        <span className={styles.name}>
          <Trans>Promotion #{id}</Trans> · {from_branch?.name ?? <Trans>a deleted branch</Trans>} → {to_branch.name}
        </span>{' '}
        <StatusPill status={status} />
        <Note comment={comment} createdBy={promotion.created_by} tables={tables} />
      </span>
      <span className={styles.end}>
        <Time instant={promotion.updated_at} />
      </span>
    </Link>
  );
}

type DeploymentLineProps = { deployment: ListedDeployment; isBranchShown?: boolean };

/** A deployment in a list. */
export function DeploymentLine({ deployment, isBranchShown = false }: DeploymentLineProps) {
  const { id, status, comment, table_definitions: tables } = deployment;
  return (
    <Link to="/deployments/$id" params={{ id: String(id) }} className={styles.line}>
      <Rocket size={18} aria-hidden />
      <span className={styles.text}>
        <span className={styles.name}>
          <Trans>Deployment #{id}</Trans>
          {isBranchShown && ` · ${deployment.branch.name}`}
        </span>{' '}
        <StatusPill status={status} />
        <Note comment={comment} createdBy={deployment.created_by} tables={tables} />
      </span>
      <span className={styles.end}>
        <Time instant={deployment.updated_at} />
      </span>
    </Link>
  );
}

/** The state of a change as a word in its colour. */
export function StatusPill({ status }: { status: ChangeStatus }) {
  const { name, style } = useChangeStates().status[status];
  return <span className={`${styles.pill} ${style}`}>{name}</span>;
}

type NoteProps = { comment: string | null; createdBy: number | null; tables: readonly { name: string }[] };

const namedTables = 3;

function Note({ comment, createdBy, tables }: NoteProps) {
  const names = tables.slice(0, namedTables).map(({ name }) => name);
  const rest = tables.length - names.length;
  return (
    <span className={styles.note}>
      <Person id={createdBy} /> · {names.join(', ')}
      {rest > 0 && (
        <>
          {' '}
          <Plural value={rest} one="and # other" other="and # others" />
        </>
      )}
      {comment && ` · ${comment}`}
    </span>
  );
}
