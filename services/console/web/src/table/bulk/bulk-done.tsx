// Says what was written to all matches, and takes it back as one.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useMutation } from '@tanstack/react-query';
import { Undo2, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { problemsOf } from '../../api/explain-error.ts';
import type { Table } from '../../api/queries.ts';
import { takeBack } from '../../edits/save-edits.ts';
import { Button } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import styles from './bulk.module.css';
import { nameExamples } from './bulk-write.ts';
import { isAboutRows } from './problems/problem-groups.ts';
import { ProblemList } from './problems/problem-list.tsx';
import type { Written } from './use-bulk-write.ts';

type BulkDoneProps = { table: Table; written: Written; onUndone: () => void; onClose: () => void };

export function BulkDone({ table, written, onUndone, onClose }: BulkDoneProps) {
  const { t } = useLingui();
  const { kind, count, requestId } = written;
  const undo = useMutation({
    mutationFn: async () => {
      try {
        await takeBack(table.table_definition_id, requestId);
        return undefined;
      } catch (error) {
        const problems = problemsOf(error);
        if (!isAboutRows(problems)) throw error;
        return { problems, names: await nameExamples(table, problems).catch(() => new Map<number, string>()) };
      }
    },
    onSuccess: (refused) => refused === undefined && onUndone(),
  });
  const isUndone = undo.isSuccess && undo.data === undefined;
  const place = useRef<HTMLDivElement>(null);
  // The button that had the focus is removed.
  useEffect(() => {
    if (isUndone) place.current?.focus();
  }, [isUndone]);
  return (
    <div ref={place} tabIndex={-1} className={styles.done}>
      <div className={styles.doneHead}>
        <span role="status">
          {isUndone ? (
            <Plural value={count} one="Taken back: # row is as before" other="Taken back: # rows are as before" />
          ) : kind === 'changed' ? (
            <Plural value={count} one="# row changed" other="# rows changed" />
          ) : (
            <Plural value={count} one="# row deleted" other="# rows deleted" />
          )}
        </span>
        {!isUndone && (
          <Button onPress={() => !undo.isPending && undo.mutate()}>
            <Undo2 size={16} aria-hidden />
            {undo.isPending ? <Trans>Taking back…</Trans> : <Trans>Undo</Trans>}
          </Button>
        )}
        <span className={styles.end} />
        <Button kind="quiet" aria-label={t`Close`} onPress={onClose}>
          <X size={16} aria-hidden />
        </Button>
      </div>
      <Refusal error={undo.error} />
      {undo.data && (
        <div role="alert">
          <p>
            <Trans>Nothing was taken back, since not all rows are as they were left:</Trans>
          </p>
          <ProblemList {...undo.data} />
        </div>
      )}
    </div>
  );
}
