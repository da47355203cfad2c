// Proposes tables of a branch for deployment. Nothing changes yet: its page shows what it would do.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { type Definition, definitionsQuery } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { Form } from '../../parts/form/form.tsx';
import { type TickItem, TickList } from '../../parts/form/tick-list.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';

type DeployDialogProps = { branch: { id: number; name: string }; onClose: () => void };

export function DeployDialog({ branch, onClose }: DeployDialogProps) {
  const { t } = useLingui();
  const { data, error, refetch } = useQuery({ ...definitionsQuery(branch.id), staleTime: 0 });
  const waiting = data?.filter(({ needs_deployment }) => needs_deployment);
  return (
    <ModalDialog label={t`Deploy tables of ${branch.name}`} onClose={onClose}>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !waiting ? (
        <Skeleton lines={4} />
      ) : waiting.length === 0 ? (
        <p>
          <Trans>All tables are deployed as they are defined.</Trans>
        </p>
      ) : (
        <Choice branchId={branch.id} waiting={waiting} onClose={onClose} />
      )}
    </ModalDialog>
  );
}

type ChoiceProps = { branchId: number; waiting: Definition[]; onClose: () => void };

function Choice({ branchId, waiting, onClose }: ChoiceProps) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const [ticked, setTicked] = useState<ReadonlySet<number>>(() => new Set(waiting.map(({ id }) => id)));
  const propose = useAct(
    () => client.post('/deployments', { body: { branch_id: branchId, table_definition_ids: [...ticked] } }),
    {
      changes: [['deployments', 'list']],
      onDone: ({ id }) => void navigate({ to: '/deployments/$id', params: { id: String(id) } }),
    },
  );
  const items = waiting.map(
    ({ id, name, deployed_version }): TickItem => ({
      id,
      name,
      note: deployed_version === null ? t`new` : t`changed since version ${deployed_version}`,
    }),
  );
  return (
    <Form
      error={propose.error}
      isPending={propose.isPending || ticked.size === 0}
      submit={<Plural value={ticked.size} one="Show what # table would do" other="Show what # tables would do" />}
      onCancel={onClose}
      onSubmit={() => propose.mutate()}
    >
      <TickList
        label={<Trans>Tables that are not deployed as they are defined</Trans>}
        searchLabel={t`Search tables`}
        items={items}
        ticked={ticked}
        onChange={setTicked}
      />
    </Form>
  );
}
