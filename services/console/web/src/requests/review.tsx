// The review of a change request: what it would do to which rows, decided row by row.
import { Trans } from '@lingui/react/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { Button } from '../parts/button.tsx';
import reviewStyles from '../parts/review/review.module.css';
import { EmptyState } from '../parts/states.tsx';
import { useDecisions } from './decisions/use-decisions.ts';
import { Applied } from './head/applied.tsx';
import { Head } from './head/head.tsx';
import { Rehearsal } from './head/rehearsal.tsx';
import { RiskLine } from './head/risk-line.tsx';
import type { May } from './operation/row-acts.ts';
import { Operations } from './operations/operations.tsx';
import { type ChangeRequest, ended, operationsKey, requestKey } from './queries.ts';
import { useReviewKeys } from './review/use-review-keys.ts';
import { useReviewView } from './review/use-review-view.ts';
import styles from './review.module.css';
import { BottomBar } from './steps/bottom-bar.tsx';
import { inOrder, TableChoice } from './table-choice.tsx';
import { Story } from './talk/story.tsx';
import { useSeen } from './use-seen.ts';

export function Review({ request }: { request: ChangeRequest }) {
  const { id, can, status } = request;
  const queries = useQueryClient();
  const { view, change } = useReviewView();
  const seen = useSeen(request);
  const { follow } = seen;
  const decisions = useDecisions(id, follow);
  const changed = useCallback(async () => {
    void queries.invalidateQueries({ queryKey: ['change_requests', 'list'] });
    await Promise.all([
      queries.invalidateQueries({ queryKey: operationsKey(id) }),
      queries.invalidateQueries({ queryKey: requestKey(id), exact: true }),
    ]);
    follow(queries.getQueryData<ChangeRequest>(requestKey(id))?.revision ?? null);
  }, [queries, id, follow]);
  const tables = inOrder(request.table_definitions);
  const table = tables.find((one) => one.id === view.table) ?? tables[0];
  useReviewKeys(table ? { viewed: () => seen.toggleViewed(table.id) } : {});
  const mayReview = can.includes('request_changes');
  const may: May = status === 'requested' && mayReview ? 'decide' : can.includes('send_request') ? 'edit' : undefined;
  return (
    <div className={reviewStyles.page}>
      <Head request={request} />
      {!ended.includes(status) && tables.length > 0 && (
        <Rehearsal request={request} isAutomatic={mayReview || can.includes('apply')} />
      )}
      <RiskLine request={request} />
      <Applied request={request} />
      {seen.isOutdated && <Outdated onLook={seen.lookAgain} />}
      {table ? (
        <div className={`${reviewStyles.layout} ${styles.layout}`}>
          <TableChoice
            requestId={id}
            tables={tables}
            chosen={table.id}
            viewed={seen.viewed}
            onViewed={seen.toggleViewed}
          />
          <Operations
            key={table.id}
            request={request}
            table={table}
            view={view}
            change={change}
            may={may}
            decisions={decisions}
            changed={changed}
          />
        </div>
      ) : (
        <EmptyState title={<Trans>No row is changed yet</Trans>}>
          <Trans>Changes of rows are added in their tables.</Trans>
        </EmptyState>
      )}
      <Story request={request} />
      <BottomBar
        request={request}
        revision={seen.revision}
        decisions={decisions}
        onDone={(after) => follow(after.revision)}
      />
    </div>
  );
}

function Outdated({ onLook }: { onLook: () => void }) {
  return (
    <div className={`${reviewStyles.notice} ${reviewStyles.outdated}`} role="alert">
      <p>
        <Trans>The request, or a row that it changes, has changed since you looked. What you see is how it was.</Trans>
      </p>
      <Button onPress={onLook}>
        <Trans>Show how it is now</Trans>
      </Button>
    </div>
  );
}
