// Deletes all matches, after an automatic check that names their number.
import { Plural, Trans } from '@lingui/react/macro';
import { useEffect, useEffectEvent } from 'react';
import { Form } from '../../parts/form/form.tsx';
import type { BulkFormProps } from './change-all.tsx';
import { Outcome } from './outcome.tsx';
import { SignedOut } from './signed-out.tsx';
import { useBulkWrite } from './use-bulk-write.ts';

export function DeleteAll({ table, matches, onMoved, onDone, onClose }: Omit<BulkFormProps, 'tables'>) {
  const writing = useBulkWrite({ table, onDone, onMoved });
  const { checked, isReady } = writing;
  const isPossible = matches !== undefined && matches.obstacle === undefined;
  const check = () => matches && writing.check({ selection: matches.selection });
  const begin = useEffectEvent(check);
  useEffect(() => {
    if (isPossible) begin();
  }, [isPossible]);
  return (
    <Form
      error={writing.error}
      isPending={writing.isPending || !isPossible}
      submit={
        isReady && checked ? (
          <Plural value={checked.changing} one="Delete # row" other="Delete # rows" />
        ) : writing.isPending ? (
          <Trans>Checking…</Trans>
        ) : (
          <Trans>Check again</Trans>
        )
      }
      onCancel={onClose}
      onSubmit={() => (isReady ? writing.act() : check())}
    >
      <SignedOut error={writing.error} />
      <Outcome writing={writing} />
    </Form>
  );
}
