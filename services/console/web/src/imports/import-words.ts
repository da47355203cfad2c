import { useLingui } from '@lingui/react/macro';
import styles from '../parts/page.module.css';
import type { ImportState } from './import-address.ts';
import type { ImportDetails, ImportTable } from './queries.ts';

type Word = { name: string; style: string | undefined };

/** The words of states, of the ways to load a file, and of what has happened to an import. */
export function useImportWords() {
  const { t } = useLingui();
  const ended = {
    completed: { name: t`completed`, style: styles.ok },
    completed_with_errors: { name: t`completed, with errors`, style: styles.warn },
    failed: { name: t`failed`, style: styles.bad },
    cancelled: { name: t`cancelled`, style: '' },
  };
  const actions: Record<string, string> = {
    created: t`opened`,
    add_table: t`table added`,
    upload_complete: t`upload complete`,
    complete: t`completed by hand`,
    cancel: t`cancel requested`,
    expire: t`expired`,
    retry: t`tried again`,
    correct: t`rejected rows corrected`,
    apply: t`dry run applied`,
    propose: t`dry run proposed as a change request`,
  };
  return {
    status: {
      created: { name: t`waits for a file`, style: '' },
      uploading: { name: t`waits for a file`, style: '' },
      processing: { name: t`running`, style: styles.accent },
      ...ended,
    } satisfies Record<ImportDetails['status'], Word>,
    tableStatus: {
      created: { name: t`waits for its file`, style: '' },
      uploaded: { name: t`waits to be read`, style: '' },
      processing: { name: t`running`, style: styles.accent },
      ...ended,
    } satisfies Record<ImportTable['status'], Word>,
    state: {
      running: t`running`,
      completed: ended.completed.name,
      completed_with_errors: ended.completed_with_errors.name,
      failed: ended.failed.name,
      cancelled: ended.cancelled.name,
    } satisfies Record<ImportState, string>,
    pattern: {
      incremental: {
        name: t`Add and update`,
        help: t`Rows of the file are added, or update the row with the same key. Rows that the file lacks stay.`,
      },
      full: {
        name: t`Replace all rows`,
        help: t`The table becomes what the file is. Rows that the file lacks are deleted.`,
      },
      incremental_with_delete: {
        name: t`Do what each row says`,
        help: t`The column svc_transaction_code has i or u to write a row, and d to delete the row with its key. Other rows stay.`,
      },
    } satisfies Record<ImportTable['pattern'], { name: string; help: string }>,
    /** What has happened; a later release may know more. */
    action: (name: string): string =>
      actions[name] ?? ended[name as keyof typeof ended]?.name ?? name.replaceAll('_', ' '),
  };
}
