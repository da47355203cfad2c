// The last section of the structure: how the draft goes into service.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { Skeleton } from '../../parts/states.tsx';
import type { DefinitionDetails } from '../definition/queries.ts';
import { DeployAtOnce } from './deploy-at-once.tsx';
import { DeploymentLink } from './deployment-link.tsx';
import { DeploymentReview } from './deployment-review.tsx';
import { openDeploymentsQuery, proposeDeployment } from './queries.ts';

export function Deployment({ definition }: { definition: DefinitionDetails }) {
  const [isDone, setIsDone] = useState(false);
  const { needs_deployment, can, can_not } = definition;
  return (
    <section className={pageStyles.section} aria-labelledby="deployment-title">
      <h2 id="deployment-title">
        <Trans>Deployment</Trans>
      </h2>
      {isDone && (
        <Notice kind="done">
          <Trans>The draft is in service.</Trans>
        </Notice>
      )}
      {!needs_deployment ? (
        !isDone && (
          <p>
            <Trans>The table in service is as the draft says.</Trans>
          </p>
        )
      ) : can?.includes('deploy') ? (
        <Ways definition={definition} onDeployed={() => setIsDone(true)} />
      ) : (
        <p>{can_not?.deploy}</p>
      )}
    </section>
  );
}

type WaysProps = { definition: DefinitionDetails; onDeployed: () => void };

function Ways({ definition, onDeployed }: WaysProps) {
  const { data: me } = useQuery(meQuery);
  if (!me) return <Skeleton lines={2} />;
  if (!me.abilities.branching) return <DeployAtOnce tableId={definition.id} onDeployed={onDeployed} />;
  return <Proposed definition={definition} userId={me.user?.id} onDeployed={onDeployed} />;
}

type ProposedProps = WaysProps & { userId: number | undefined };

/** One deployment of this table alone: that which was begun before, or a new one. */
function Proposed({ definition: { id, branch_id }, userId, onDeployed }: ProposedProps) {
  const { data: open, error } = useQuery(openDeploymentsQuery(branch_id));
  const [chosen, setChosen] = useState<number>();
  const propose = useAct(() => proposeDeployment(branch_id, id), { changes: [['deployments']], onDone: setChosen });
  const ofTable = open?.filter(({ table_definitions: tables }) => tables.some((table) => table.id === id)) ?? [];
  const begun = ofTable.find(
    ({ status, created_by, table_definitions: tables }) =>
      status === 'created' && created_by === userId && tables.length === 1,
  );
  const waiting = ofTable.filter(({ status }) => status !== 'created');
  if (chosen !== undefined)
    return <DeploymentReview id={chosen} onDeployed={onDeployed} onClose={() => setChosen(undefined)} />;
  return (
    <>
      {waiting.map(({ id: deployment, status }) => (
        <Notice key={deployment}>
          {status === 'requested' ? (
            <Trans>A deployment of this table waits for approval.</Trans>
          ) : (
            <Trans>This table is being deployed.</Trans>
          )}{' '}
          <DeploymentLink id={deployment} />
        </Notice>
      ))}
      <Refusal error={propose.error ?? error} />
      <Button
        kind="primary"
        isDisabled={propose.isPending}
        onPress={() => (begun ? setChosen(begun.id) : propose.mutate())}
      >
        <Trans>See what deploying would do</Trans>
      </Button>
    </>
  );
}
