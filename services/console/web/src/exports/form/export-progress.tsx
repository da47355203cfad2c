// An export that was started from a dialog: its download starts when the file is there.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Button } from '../../parts/button.tsx';
import { startDownload } from '../../parts/files/start-download.ts';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import { ErrorState } from '../../parts/states.tsx';
import { ExportFile } from '../export-file.tsx';
import styles from '../exports.module.css';
import { type Export, exportQuery, isOpen } from '../queries.ts';

type ExportProgressProps = { id: number; onClose: () => void };

export function ExportProgress({ id, onClose }: ExportProgressProps) {
  const { data: given, error, dataUpdatedAt, refetch } = useQuery(exportQuery(id));
  useDownload(given);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <div className={styles.progress}>
      {!given || isOpen(given) ? <Running /> : <Ended given={given} readAt={dataUpdatedAt} />}
      <div className={styles.actions}>
        <Button onPress={onClose}>
          <Trans>Close</Trans>
        </Button>
        <Link to="/exports" onClick={onClose}>
          <Trans>All exports</Trans>
        </Link>
      </div>
    </div>
  );
}

// Once, also when the page is rendered twice.
function useDownload(given: Export | undefined): void {
  const started = useRef(false);
  const url = given?.status === 'completed' ? given.download_url : null;
  useEffect(() => {
    if (url === null || started.current) return;
    started.current = true;
    startDownload(url);
  }, [url]);
}

function Running() {
  const { t } = useLingui();
  return (
    <>
      <progress aria-label={t`The file is being written`} />
      <p>
        <Trans>The file is being written. Its download starts when it is ready; you may close this, too.</Trans>
      </p>
    </>
  );
}

function Ended({ given, readAt }: { given: Export; readAt: number }) {
  const { size } = useNumbers();
  if (given.status !== 'completed')
    return (
      <p className={styles.problem} role="alert">
        {given.error ?? <Trans>The export was cancelled.</Trans>}
      </p>
    );
  return (
    <>
      <p role="status">
        <Trans>The download has started.</Trans> <Plural value={given.rows_exported ?? 0} one="# row" other="# rows" />{' '}
        · {size(given.bytes_exported ?? 0)}
      </p>
      <ExportFile given={given} readAt={readAt} />
    </>
  );
}
