// Proposes a change of all matches, or their deletion, as a change request.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { problemsOf } from '../../api/explain-error.ts';
import type { Table } from '../../api/queries.ts';
import { ProposalFields, readProposal, usePropose } from '../../edits/proposal.tsx';
import { Form } from '../../parts/form/form.tsx';
import { findPresentCount } from './problems/problem-groups.ts';
import { SignedOut } from './signed-out.tsx';
import type { Matches } from './use-matches.ts';
import { type EnteredValues, useEnteredValues } from './values/entered-values.tsx';

type ProposeAllProps = {
  kind: 'change' | 'delete';
  table: Table;
  tables: readonly Table[];
  matches: Matches | undefined;
  /** The number of matches is another by now. */
  onMoved: () => void;
  onClose: () => void;
};

export function ProposeAll({ kind, table, tables, matches, onMoved, onClose }: ProposeAllProps) {
  const { t } = useLingui();
  const [refusal, setRefusal] = useState<object>();
  const propose = usePropose(table, onClose);
  const entered = useEnteredValues({ table, tables, onChange: () => setRefusal(undefined) });
  const addAll = async (id: number, { selection, count }: Matches, set: EnteredValues['set'] | undefined) => {
    const { operation_count, with_problems } = await client.post('/change_requests/{id}/operations/where', {
      params: { path: { id } },
      body: {
        table_definition_id: table.table_definition_id,
        ...selection,
        ...(set ? { operation: 'update', set } : { operation: 'delete' }),
        expected_count: count,
      },
    });
    if (operation_count === 0) throw new Error(t`All these rows have the values already.`);
    return with_problems;
  };
  const submit = (typed: Record<string, string>) => {
    if (!matches) return;
    const { set, problems } = kind === 'change' ? entered.read(typed) : { set: undefined, problems: [] };
    setRefusal(problems.length > 0 ? { status: 422, problems } : undefined);
    if (problems.length > 0) return;
    propose.mutate(
      { fill: (id) => addAll(id, matches, set), proposal: readProposal(typed) },
      { onError: (error) => findPresentCount(problemsOf(error)) !== undefined && onMoved() },
    );
  };
  const count = matches?.count ?? 0;
  return (
    <Form
      error={refusal ?? propose.error}
      isPending={propose.isPending || !matches || matches.obstacle !== undefined}
      submit={
        kind === 'change' ? (
          <Plural value={count} one="Propose the change of # row" other="Propose the change of # rows" />
        ) : (
          <Plural value={count} one="Propose the deletion of # row" other="Propose the deletion of # rows" />
        )
      }
      onCancel={onClose}
      onSubmit={submit}
    >
      <p>
        <Trans>Nothing changes until others approve it.</Trans>
      </p>
      <SignedOut error={propose.error} />
      {kind === 'change' && entered.fields}
      <ProposalFields autoFocus={kind === 'delete'} />
    </Form>
  );
}
