import { Trans } from '@lingui/react/macro';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { draftChanges } from '../definition/queries.ts';
import styles from './deployment.module.css';

/** On plans without branches: what blocks a deployment is said by its refusal. */
export function DeployAtOnce({ tableId, onDeployed }: { tableId: number; onDeployed: () => void }) {
  const deploy = useAct(
    () => client.post('/table_definitions/{id}/deploy', { params: { path: { id: String(tableId) } } }),
    { changes: [...draftChanges, ['rows', tableId]], onDone: onDeployed },
  );
  return (
    <div className={styles.review}>
      <Refusal error={deploy.error} />
      <div className={pageStyles.tools}>
        <Button kind="primary" isDisabled={deploy.isPending} onPress={() => deploy.mutate()}>
          <Trans>Deploy</Trans>
        </Button>
        {deploy.isPending ? (
          <Trans>Being deployed…</Trans>
        ) : (
          <span className={pageStyles.quiet}>
            <Trans>The draft takes effect at once, in whole or not at all.</Trans>
          </span>
        )}
      </div>
    </div>
  );
}
