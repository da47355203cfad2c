import { useLingui } from '@lingui/react/macro';
import styles from '../parts/page.module.css';
import type { ExportState } from './export-address.ts';
import type { Export } from './queries.ts';

type Word = { name: string; style: string | undefined };

/** The words of states and formats. */
export function useExportWords() {
  const { t } = useLingui();
  const ended = {
    completed: { name: t`ready`, style: styles.ok },
    failed: { name: t`failed`, style: styles.bad },
    cancelled: { name: t`cancelled`, style: '' },
  };
  return {
    status: {
      created: { name: t`waits`, style: '' },
      processing: { name: t`running`, style: styles.accent },
      ...ended,
    } satisfies Record<Export['status'], Word>,
    state: {
      running: t`running`,
      completed: ended.completed.name,
      failed: ended.failed.name,
      cancelled: ended.cancelled.name,
    } satisfies Record<ExportState, string>,
    format: {
      xlsx: t`Excel (XLSX)`,
      csv: t`CSV`,
      tsv: t`TSV`,
      json: t`JSON`,
      ndjson: t`Lines of JSON (NDJSON)`,
      parquet: t`Parquet`,
    } satisfies Record<Export['format'], string>,
  };
}
