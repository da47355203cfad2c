// Proposes to merge tables of a branch into another. Nothing changes yet: its page shows what it
// would do.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { type Branch, branchesQuery, type Definition, definitionsQuery } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { CheckField, SelectField } from '../../parts/form/fields.tsx';
import { Form } from '../../parts/form/form.tsx';
import { type TickItem, TickList } from '../../parts/form/tick-list.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';

type PromoteDialogProps = {
  from: { id: number; name: string };
  /** The branch that is offered first. */
  toId: number | null;
  onClose: () => void;
};

export function PromoteDialog({ from, toId, onClose }: PromoteDialogProps) {
  const { t } = useLingui();
  const { data: definitions, error, refetch } = useQuery(definitionsQuery(from.id));
  const { data: branches } = useQuery(branchesQuery);
  return (
    <ModalDialog label={t`Promote from ${from.name}`} onClose={onClose}>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !definitions || !branches ? (
        <Skeleton lines={5} />
      ) : definitions.length === 0 ? (
        <EmptyState title={<Trans>This branch has no tables to promote</Trans>} />
      ) : (
        <Choice
          fromId={from.id}
          toId={toId}
          others={branches.filter(({ id }) => id !== from.id)}
          definitions={definitions}
          onClose={onClose}
        />
      )}
    </ModalDialog>
  );
}

type ChoiceProps = {
  fromId: number;
  toId: number | null;
  others: Branch[];
  definitions: Definition[];
  onClose: () => void;
};

function Choice({ fromId, toId, others, definitions, onClose }: ChoiceProps) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const [ticked, setTicked] = useState<ReadonlySet<number>>(() => new Set(definitions.map(({ id }) => id)));
  const propose = useAct(
    ({ to = '', rows }: Record<string, string>) =>
      client.post('/promotions', {
        body: {
          from_branch_id: fromId,
          to_branch_id: Number(to),
          table_definition_ids: [...ticked],
          include_data: rows === 'on',
        },
      }),
    {
      changes: [['promotions', 'list']],
      onDone: ({ id }) => void navigate({ to: '/promotions/$id', params: { id: String(id) } }),
    },
  );
  const items = definitions.map(
    ({ id, name, domain, deployed_version }): TickItem => ({
      id,
      name,
      section: domain.name,
      ...(deployed_version === null && { note: t`not deployed here` }),
    }),
  );
  const parent = others.find(({ id }) => id === toId) ?? others.find(({ is_default }) => is_default);
  return (
    <Form
      error={propose.error}
      isPending={propose.isPending || ticked.size === 0}
      submit={<Plural value={ticked.size} one="Propose # table" other="Propose # tables" />}
      onCancel={onClose}
      onSubmit={propose.mutate}
    >
      <SelectField
        name="to"
        label={<Trans>Into the branch</Trans>}
        options={others.map(({ id, name }) => ({ id: String(id), name }))}
        defaultValue={parent && String(parent.id)}
      />
      <TickList
        label={<Trans>Tables</Trans>}
        searchLabel={t`Search tables`}
        items={items}
        ticked={ticked}
        onChange={setTicked}
      />
      <CheckField
        name="rows"
        label={<Trans>With their rows</Trans>}
        help={<Trans>Without it the structures alone are merged.</Trans>}
        isChecked
      />
      <p>
        <Trans>Nothing changes yet: you see first what it would do.</Trans>
      </p>
    </Form>
  );
}
