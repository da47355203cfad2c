// A deployment: what it does to which tables, what is in its way, and the steps that one may take.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import pageStyles from '../../parts/page.module.css';
import reviewStyles from '../../parts/review/review.module.css';
import { BranchLink } from '../branch-link.tsx';
import { ChangeHead } from '../change-head.tsx';
import { type Deployment, isEnded, isUnderWay } from '../change-queries.ts';
import { ChangeStory } from '../change-story.tsx';
import styles from '../changes.module.css';
import { Done } from '../done.tsx';
import { Outdated } from '../outdated.tsx';
import { StepBar } from '../steps/step-bar.tsx';
import { TableChange } from '../structure/table-change.tsx';
import { useSeenRevision } from '../use-seen-revision.ts';
import { DeploymentRehearsal } from './deployment-rehearsal.tsx';

export function OpenDeployment({ deployment }: { deployment: Deployment }) {
  const { t } = useLingui();
  const { id, branch, status, diffs, table_definitions: tables } = deployment;
  const seen = useSeenRevision(deployment.revision);
  const isOpen = !isEnded(status) && !isUnderWay(status);
  return (
    <div className={reviewStyles.page}>
      <ChangeHead title={t`Deployment #${id}`} change={deployment} place={<BranchLink branch={branch} />} />
      {isOpen && seen.isOutdated && <Outdated onLook={seen.lookAgain} />}
      {isOpen && <DeploymentRehearsal deployment={deployment} />}
      {status === 'deployed' && (
        <Done
          title={<Trans>Deployed on {branch.name}</Trans>}
          by={deployment.deployed_by}
          at={deployment.deployed_at}
        />
      )}
      <section className={styles.part} aria-labelledby="tables-title">
        <h2 id="tables-title">
          <Plural value={tables.length} one="# table" other="# tables" />
        </h2>
        {diffs.map((diff) => (
          <TableChange key={diff.table_definition_id} diff={diff} />
        ))}
        {diffs.length === 0 && <p>{tables.map(({ name }) => name).join(', ')}</p>}
      </section>
      <ChangeStory actions={deployment.actions} />
      <StepBar
        change={deployment}
        stepped={{ kind: 'deployment', id, revision: seen.revision }}
        place={branch.name}
        count={tables.length}
        note={<Losses deployment={deployment} />}
      >
        {isOpen && <Losses deployment={deployment} />}
      </StepBar>
    </div>
  );
}

/** How much would be lost, or is in the way. */
function Losses({ deployment: { diffs } }: { deployment: Deployment }) {
  const blockers = diffs.flatMap((diff) => diff.blockers).length;
  const warnings = diffs.flatMap((diff) => diff.warnings).length;
  if (blockers > 0)
    return (
      <p className={pageStyles.bad}>
        <Plural value={blockers} one="# thing is in the way" other="# things are in the way" />
      </p>
    );
  if (warnings === 0) return null;
  return (
    <p className={pageStyles.bad}>
      <Plural value={warnings} one="Data would be lost: see # warning" other="Data would be lost: see # warnings" />
    </p>
  );
}
