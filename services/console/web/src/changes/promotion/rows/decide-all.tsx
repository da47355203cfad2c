import { Plural } from '@lingui/react/macro';
import { useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { ReasonForm } from '../../../parts/review/reason-form.tsx';
import { filterOf } from './promoted-rows-query.ts';
import type { PromotionView } from './promotion-view.ts';
import type { RowDecisions } from './row-decisions.ts';

type DecideAllProps = { view: PromotionView; count: number; decisions: RowDecisions };

/** Rejects all rows that the filters find, or takes that back where they are the rejected ones. */
export function DecideAll({ view, count, decisions }: DecideAllProps) {
  const [isAsked, setIsAsked] = useState(false);
  const filter = filterOf(view);
  if (isAsked)
    return (
      <ReasonForm
        verb="reject"
        onAnswer={(reason) => {
          setIsAsked(false);
          decisions.decide({ filter }, 'reject', reason);
        }}
        onCancel={() => setIsAsked(false)}
      />
    );
  if (view.rejected)
    return (
      <Button isDisabled={decisions.isPending} onPress={() => decisions.decide({ filter }, 'undecided')}>
        <Plural value={count} one="Take # decision back" other="Take # decisions back" />
      </Button>
    );
  return (
    <Button isDisabled={decisions.isPending} onPress={() => setIsAsked(true)}>
      <Plural value={count} one="Reject # row…" other="Reject # rows…" />
    </Button>
  );
}
