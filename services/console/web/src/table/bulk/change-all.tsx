// Changes columns of all matches: values are entered, checked, and then written as one.
import { Plural, Trans } from '@lingui/react/macro';
import { useState } from 'react';
import type { Table } from '../../api/queries.ts';
import { Form } from '../../parts/form/form.tsx';
import { Outcome } from './outcome.tsx';
import { SignedOut } from './signed-out.tsx';
import { useBulkWrite, type Written } from './use-bulk-write.ts';
import type { Matches } from './use-matches.ts';
import { useEnteredValues } from './values/entered-values.tsx';

export type BulkFormProps = {
  table: Table;
  tables: readonly Table[];
  matches: Matches | undefined;
  onMoved: () => void;
  onDone: (written: Written) => void;
  onClose: () => void;
};

export function ChangeAll({ table, tables, matches, onMoved, onDone, onClose }: BulkFormProps) {
  const [refusal, setRefusal] = useState<object>();
  const writing = useBulkWrite({ table, onDone, onMoved });
  const { checked, isReady } = writing;
  const changed = () => {
    setRefusal(undefined);
    writing.drop();
  };
  const { fields, read } = useEnteredValues({ table, tables, onChange: changed });
  const submit = (typed: Record<string, string>) => {
    if (isReady) return writing.act();
    if (!matches) return;
    const { set, problems } = read(typed);
    setRefusal(problems.length > 0 ? { status: 422, problems } : undefined);
    if (problems.length === 0) writing.check({ selection: matches.selection, set });
  };
  return (
    <Form
      error={refusal ?? writing.error}
      isPending={writing.isPending || !matches || matches.obstacle !== undefined}
      submit={
        isReady && checked ? (
          <Plural value={checked.changing} one="Change # row" other="Change # rows" />
        ) : checked || writing.moved ? (
          <Trans>Check again</Trans>
        ) : (
          <Trans>Check</Trans>
        )
      }
      onCancel={onClose}
      onSubmit={submit}
    >
      <SignedOut error={writing.error} />
      {fields}
      <Outcome writing={writing} />
    </Form>
  );
}
