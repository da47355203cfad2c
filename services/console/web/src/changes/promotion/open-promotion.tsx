// A promotion: what it would merge, its conflicts, its rows, and the steps that one may take.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import pageStyles from '../../parts/page.module.css';
import reviewStyles from '../../parts/review/review.module.css';
import { BranchLink } from '../branch-link.tsx';
import { ChangeHead } from '../change-head.tsx';
import { isEnded, isUnderWay, type Promotion } from '../change-queries.ts';
import { ChangeStory } from '../change-story.tsx';
import styles from '../changes.module.css';
import { Outdated } from '../outdated.tsx';
import { RehearsalPanel } from '../rehearsal/rehearsal-panel.tsx';
import { StepBar } from '../steps/step-bar.tsx';
import { TableChange } from '../structure/table-change.tsx';
import { useSeenRevision } from '../use-seen-revision.ts';
import { Conflicts } from './conflicts.tsx';
import { Outcome } from './outcome.tsx';
import { none, undecided } from './resolutions.ts';
import { PromotedRows } from './rows/promoted-rows.tsx';
import { RejectedRows } from './rows/rejected-rows.tsx';
import { useRehearsal } from './use-rehearsal.ts';

export function OpenPromotion({ promotion }: { promotion: Promotion }) {
  const { t } = useLingui();
  const { id, from_branch: from, to_branch: to, status } = promotion;
  const isOpen = !isEnded(status) && !isUnderWay(status);
  const [choices, setChoices] = useState(none);
  const seen = useSeenRevision(promotion.revision);
  const rehearsal = useRehearsal(promotion, choices);
  const conflicts = rehearsal.result?.conflicts ?? promotion.conflicts;
  const unlisted = (rehearsal.result?.conflict_count ?? conflicts.length) - conflicts.length;
  const left = undecided(choices, conflicts).length;
  const count = promotion.table_definitions.length;
  return (
    <div className={reviewStyles.page}>
      <ChangeHead title={t`Promotion #${id}`} change={promotion} place={<Places promotion={promotion} />} />
      {isOpen && seen.isOutdated && <Outdated onLook={seen.lookAgain} />}
      {isOpen && <RehearsalPanel {...rehearsal} />}
      <Outcome promotion={promotion} />
      {isOpen && conflicts.length > 0 && (
        <Conflicts
          conflicts={conflicts}
          unlisted={unlisted}
          choices={choices}
          nameOf={(key) => promotion.table_definitions.find((table) => table.key === key)?.name ?? key}
          source={from?.name ?? t`source`}
          target={to.name}
          onChange={setChoices}
        />
      )}
      {promotion.diffs.length > 0 && (
        <section className={styles.part} aria-labelledby="structures-title">
          <h2 id="structures-title">
            <Trans>Structures</Trans>
          </h2>
          {promotion.diffs.map((diff) => (
            <TableChange key={diff.table_definition_id} diff={diff} />
          ))}
        </section>
      )}
      {promotion.include_data && isOpen && (
        <PromotedRows promotion={promotion} merged={rehearsal.result?.rows} onRevision={seen.follow} />
      )}
      {promotion.include_data && !isOpen && <RejectedRows promotion={promotion} />}
      <ChangeStory actions={promotion.actions} />
      <StepBar
        change={promotion}
        stepped={{ kind: 'promotion', id, revision: seen.revision, resolutions: Object.values(choices) }}
        place={to.name}
        count={count}
        note={<Note left={left} includesRows={promotion.include_data} />}
      >
        {isOpen && left > 0 && (
          <p className={pageStyles.bad}>
            <Plural value={left} one="# conflict is not decided yet" other="# conflicts are not decided yet" />
          </p>
        )}
      </StepBar>
    </div>
  );
}

function Places({ promotion: { from_branch: from, to_branch: to, include_data } }: { promotion: Promotion }) {
  return (
    <>
      {from ? <BranchLink branch={from} /> : <Trans>a deleted branch</Trans>}
      {' → '}
      <BranchLink branch={to} />
      {' · '}
      {include_data ? <Trans>with rows</Trans> : <Trans>without rows</Trans>}
    </>
  );
}

function Note({ left, includesRows }: { left: number; includesRows: boolean }) {
  return (
    <>
      {includesRows && (
        <p>
          <Trans>Its rows are merged at the same time.</Trans>
        </p>
      )}
      {left > 0 && (
        <p className={pageStyles.bad}>
          <Plural
            value={left}
            one="# conflict is not decided yet: it would be refused."
            other="# conflicts are not decided yet: it would be refused."
          />
        </p>
      )}
    </>
  );
}
