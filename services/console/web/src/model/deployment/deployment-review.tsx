// What a deployment would do now, and the decision: deploy it, ask for approval, or leave it.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { type Deployment, deploymentQuery } from '../../changes/change-queries.ts';
import { TableChange } from '../../changes/structure/table-change.tsx';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { draftChanges } from '../definition/queries.ts';
import { ApprovalRequest } from './approval-request.tsx';
import styles from './deployment.module.css';
import { DeploymentLink } from './deployment-link.tsx';

type DeploymentReviewProps = { id: number; onDeployed: () => void; onClose: () => void };

export function DeploymentReview({ id, onDeployed, onClose }: DeploymentReviewProps) {
  const { data, error, refetch } = useQuery(deploymentQuery(id));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={4} />;
  return (
    <div className={styles.review}>
      {data.diffs.map((diff) => (
        <TableChange key={diff.table_definition_id} diff={diff} />
      ))}
      {data.status === 'requested' ? (
        <Notice kind="done">
          <Trans>Approval is asked for. Nothing has changed yet.</Trans> <DeploymentLink id={id} />
        </Notice>
      ) : data.status === 'deploying' ? (
        <p>
          <Trans>Being deployed…</Trans>
        </p>
      ) : (
        <Decision deployment={data} onDeployed={onDeployed} onClose={onClose} onCheck={() => void refetch()} />
      )}
    </div>
  );
}

type DecisionProps = {
  deployment: Deployment;
  onDeployed: () => void;
  onClose: () => void;
  onCheck: () => void;
};

function Decision({ deployment, onDeployed, onClose, onCheck }: DecisionProps) {
  const { id, revision, diffs, error, can, can_not, branch } = deployment;
  const params = { path: { id } };
  const isBlocked = diffs.some(({ blockers }) => blockers.length > 0);
  const changes = [...draftChanges, ...diffs.map((diff) => ['rows', diff.table_definition_id])];
  const deploy = useAct(
    async () => {
      try {
        return await client.post('/deployments/{id}/deploy', { params, body: revision === null ? {} : { revision } });
      } catch (error) {
        // The reason may be that the draft has changed since: what stands above is then outdated.
        onCheck();
        throw error;
      }
    },
    { changes, onDone: ({ status }) => status === 'deployed' && onDeployed() },
  );
  const cancel = useAct(() => client.post('/deployments/{id}/cancel', { params, body: {} }), {
    changes: [['deployments']],
    onDone: onClose,
  });
  const canDeploy = can?.includes('deploy') ?? false;
  return (
    <>
      {error !== null && <Notice kind="bad">{error}</Notice>}
      <Refusal error={deploy.error ?? cancel.error} />
      {!canDeploy && can?.includes('send_request') && !isBlocked && (
        <ApprovalRequest id={id} branch={branch.name} reason={can_not?.deploy} />
      )}
      {!canDeploy && !can?.includes('send_request') && <p>{can_not?.send_request ?? can_not?.deploy}</p>}
      <div className={pageStyles.tools}>
        {canDeploy && !isBlocked && (
          <Button kind="primary" isDisabled={deploy.isPending || deploy.isSuccess} onPress={() => deploy.mutate()}>
            <Trans>Deploy</Trans>
          </Button>
        )}
        {isBlocked && (
          <Button kind="primary" onPress={onCheck}>
            <Trans>Check again</Trans>
          </Button>
        )}
        <Button isDisabled={cancel.isPending || deploy.isPending} onPress={() => cancel.mutate()}>
          <Trans>Not now</Trans>
        </Button>
        {deploy.isPending && <Trans>Being deployed…</Trans>}
        {isBlocked && (
          <span className={pageStyles.quiet}>
            <Trans>It can’t be deployed before this is put right, in the draft or in the rows.</Trans>
          </span>
        )}
      </div>
    </>
  );
}
