import { Trans } from '@lingui/react/macro';
import { useNumbers } from '../parts/files/use-numbers.ts';
import styles from './imports.module.css';
import type { ImportTable } from './queries.ts';

type ProgressProps = { label: string; progress: ImportTable['progress'] };

/** How much of a file has been read. The rows are written after the last of it. */
export function Progress({ label, progress }: ProgressProps) {
  const { count, size } = useNumbers();
  const { percent, bytes_processed, bytes_total, rows_processed } = progress;
  const rows = count(rows_processed);
  const [read, total] = [size(bytes_processed), size(bytes_total ?? 0)];
  return (
    <div className={styles.progress}>
      <progress aria-label={label} max={100} value={percent} />
      <span>
        {bytes_total === null ? (
          <Trans>{rows} rows read</Trans>
        ) : (
          <Trans>
            {rows} rows read · {read} of {total}
          </Trans>
        )}
      </span>
    </div>
  );
}
