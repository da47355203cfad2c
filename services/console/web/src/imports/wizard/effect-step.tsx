// The third step: the file is sent and checked, and what it would change is shown.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import type { ChangeKind } from '../../diff/change-kinds.ts';
import { Button } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { ImportedTable } from '../one/imported-table.tsx';
import { type ImportTable, importQuery, isOpen } from '../queries.ts';
import { Sending } from '../sending/sending.tsx';
import type { RunningDryRun } from '../sending/use-dry-run.ts';
import styles from '../wizard.module.css';
import { Outcome } from './outcome.tsx';

type EffectStepProps = {
  importId: number | undefined;
  dryRun: RunningDryRun;
  kind: ChangeKind | undefined;
  onKind: (kind: ChangeKind | undefined) => void;
  /** Undefined when the page has lost the file. */
  onBack: (() => void) | undefined;
  onStartOver: () => void;
};

export function EffectStep({ importId, dryRun, kind, onKind, onBack, onStartOver }: EffectStepProps) {
  const stop = () => {
    dryRun.stop();
    onBack?.();
  };
  if (dryRun.isRunning) return <Sending sent={dryRun.sent} onStop={stop} />;
  if (importId !== undefined)
    return <CheckedFile importId={importId} dryRun={dryRun} {...{ kind, onKind, onBack, onStartOver }} />;
  return (
    <div className={styles.step}>
      <Refusal error={dryRun.error} />
      <div className={styles.acts}>
        {onBack && (
          <Button onPress={onBack}>
            <Trans>Back</Trans>
          </Button>
        )}
        <Button kind="primary" onPress={() => dryRun.again?.()}>
          <Trans>Try again</Trans>
        </Button>
      </div>
    </div>
  );
}

type CheckedFileProps = Omit<EffectStepProps, 'importId'> & { importId: number };

function CheckedFile({ importId, dryRun, kind, onKind, onBack, onStartOver }: CheckedFileProps) {
  const { data: given, error, refetch } = useQuery(importQuery(importId));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const [table] = given?.import_tables ?? [];
  if (!given || !table) return <Skeleton lines={8} />;
  const isDone = table.applied_as !== null && !isOpen(given);
  return (
    <div className={styles.step}>
      {isDone && <Outcome table={table} />}
      <div>
        <ImportedTable given={given} table={table} kind={kind} onKind={onKind} />
      </div>
      {mayHaveDeletedTooMuch(table) && dryRun.again && (
        <p>
          <Trans>When it is meant that more than half of the rows go, check it again with that allowed.</Trans>
        </p>
      )}
      <div className={styles.acts}>
        {onBack && table.applied_as === null && (
          <Button onPress={onBack}>
            <Trans>Back</Trans>
          </Button>
        )}
        {mayHaveDeletedTooMuch(table) && dryRun.again && (
          <Button onPress={() => dryRun.again?.({ allowsMassDelete: true })}>
            <Trans>Allow it and check again</Trans>
          </Button>
        )}
        {(isDone || table.status === 'failed' || hasNoEffect(table)) && (
          <Button onPress={onStartOver}>
            <Trans>Import another file</Trans>
          </Button>
        )}
      </div>
    </div>
  );
}

// The server fails a replacement that would delete more than half of the rows, unless it is
// allowed.
function mayHaveDeletedTooMuch({ status, pattern, allow_mass_delete }: ImportTable): boolean {
  return status === 'failed' && pattern === 'full' && !allow_mass_delete;
}

function hasNoEffect({ metrics, status }: ImportTable): boolean {
  const hasEnded = status === 'completed' || status === 'completed_with_errors';
  return hasEnded && metrics !== null && metrics.inserted + metrics.updated + metrics.deleted === 0;
}
