// The last steps: the draft is deployed, and the rows of its file are loaded.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { ImportedTable } from '../../imports/one/imported-table.tsx';
import { importQuery, isOpen } from '../../imports/queries.ts';
import type { Sample } from '../../imports/sample/read-sample.ts';
import { Sending } from '../../imports/sending/sending.tsx';
import { Outcome } from '../../imports/wizard/outcome.tsx';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { DeployAtOnce } from '../deployment/deploy-at-once.tsx';
import { DeploymentReview } from '../deployment/deployment-review.tsx';
import type { NewColumn } from './draft-columns.ts';
import type { MadeTable } from './make-table.ts';
import styles from './new-table.module.css';
import { useRowsLoad } from './use-rows-load.ts';

type LiveStepProps = {
  made: MadeTable;
  read: { file: File; sample: Exclude<Sample, { kind: 'hidden' }> } | undefined;
  columns: NewColumn[];
  dateStyle: string;
};

export function LiveStep({ made: { definition, deploymentId }, read, columns, dateStyle }: LiveStepProps) {
  const navigate = useNavigate();
  const [isLive, setIsLive] = useState(false);
  const load = useRowsLoad();
  const place = useRef<HTMLDivElement>(null);
  // The button that led here was part of the step before.
  useEffect(() => place.current?.focus(), []);
  const { id, key, name, branch_id, row_policy } = definition;
  const start = () => {
    if (read === undefined) return void navigate({ to: '/t/$key', params: { key } });
    setIsLive(true);
    const isProposed = row_policy.row_changes === 'request';
    load.start({ ...read, table: { id, branch_id }, columns, dateStyle, isProposed });
  };
  if (!isLive)
    return (
      <div ref={place} tabIndex={-1} className={styles.step}>
        <p>
          <Trans>
            <strong>{name}</strong> is drafted. It can be used once it is deployed.
          </Trans>{' '}
          <Link to="/t/$key/structure" params={{ key }}>
            <Trans>Its structure</Trans>
          </Link>
        </p>
        {deploymentId === undefined ? (
          <DeployAtOnce tableId={id} onDeployed={start} />
        ) : (
          <DeploymentReview
            id={deploymentId}
            onDeployed={start}
            onClose={() => void navigate({ to: '/t/$key/structure', params: { key } })}
          />
        )}
        {read && (
          <p className={pageStyles.quiet}>
            <Trans>
              When you deploy it here, the rows of {read.file.name} are loaded at once. When others do, import the file
              afterwards.
            </Trans>
          </p>
        )}
      </div>
    );
  if (load.isPending && load.importId === undefined) return <Sending sent={load.sent} onStop={load.stop} />;
  if (load.importId !== undefined) return <Loaded importId={load.importId} isChecked={!load.isPending} />;
  return (
    <div className={styles.step}>
      <p>
        <CircleAlert size={16} aria-hidden /> <Trans>The table is in service. Its rows were not loaded.</Trans>
      </p>
      <Refusal error={load.error} />
      <div className={pageStyles.tools}>
        <Button kind="primary" onPress={start}>
          <Trans>Try again</Trans>
        </Button>
        <Link to="/t/$key" params={{ key }} className={buttonLook('plain')}>
          <Trans>Open the table</Trans>
        </Link>
      </div>
    </div>
  );
}

/** The import, as it goes on; with rejected rows people decide whether the others are loaded. */
function Loaded({ importId, isChecked }: { importId: number; isChecked: boolean }) {
  const { data: given, error, refetch } = useQuery(importQuery(importId));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const [table] = given?.import_tables ?? [];
  if (!given || !table) return <Skeleton lines={6} />;
  const isDone = table.applied_as !== null && !isOpen(given);
  if (!isChecked && !isDone)
    return (
      <p role="status">
        <Trans>The rows are being checked and loaded…</Trans>
      </p>
    );
  return (
    <div className={styles.step}>
      {isDone && <Outcome table={table} />}
      <div>
        <ImportedTable given={given} table={table} kind={undefined} onKind={() => {}} />
      </div>
    </div>
  );
}
