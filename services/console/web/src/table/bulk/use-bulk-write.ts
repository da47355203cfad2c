// A write of all matches: first checked, then carried out for exactly as many rows as were seen.
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { problemsOf } from '../../api/explain-error.ts';
import type { Table } from '../../api/queries.ts';
import { newNames, type WriteNames } from '../../edits/save-edits.ts';
import { type BulkWrite, carryOut, nameExamples, type Rehearsal, rehearse } from './bulk-write.ts';
import { findPresentCount, isAboutRows } from './problems/problem-groups.ts';

/** What was written: it is undone by the id of its request. */
export type Written = { kind: 'changed' | 'deleted'; count: number; requestId: string };

type Options = {
  table: Table;
  onDone: (written: Written) => void;
  /** The number of matches is another by now. */
  onMoved: () => void;
};

export function useBulkWrite({ table, onDone, onMoved }: Options) {
  const [checked, setChecked] = useState<Rehearsal & { write: BulkWrite; writeNames: WriteNames }>();
  const [moved, setMoved] = useState<{ from: number; to: number }>();
  const check = useMutation({
    mutationFn: (write: BulkWrite) => rehearse(table, write),
    onMutate: () => act.reset(),
    onSuccess: (rehearsal, write) => {
      setMoved(undefined);
      setChecked({ ...rehearsal, write, writeNames: newNames() });
    },
  });
  const act = useMutation({
    mutationFn: async () => {
      if (!checked) throw new Error('Nothing is checked.');
      const { write, matched, writeNames } = checked;
      const count = await carryOut(table, write, matched, writeNames);
      return { kind: write.set ? ('changed' as const) : ('deleted' as const), count, requestId: writeNames.requestId };
    },
    onSuccess: onDone,
    onError: async (error) => {
      const problems = problemsOf(error);
      const present = findPresentCount(problems);
      if (checked && present !== undefined) {
        setMoved({ from: checked.matched, to: present });
        setChecked(undefined);
        onMoved();
      } else if (checked && isAboutRows(problems))
        setChecked({ ...checked, problems, names: await nameExamples(table, problems).catch(() => new Map()) });
    },
  });
  const isListed = moved !== undefined || isAboutRows(problemsOf(act.error));
  return {
    checked,
    moved,
    /** The check has found something to write, and nothing that refuses it. */
    isReady: checked !== undefined && checked.changing > 0 && checked.problems.length === 0,
    isPending: check.isPending || act.isPending,
    /** Why there was no answer, or another than one about rows. */
    error: check.error ?? (isListed ? null : act.error),
    check: (write: BulkWrite) => check.mutate(write),
    act: () => act.mutate(),
    /** What was checked is something else by now. */
    drop: () => {
      setChecked(undefined);
      setMoved(undefined);
      check.reset();
      act.reset();
    },
  };
}

export type BulkWriting = ReturnType<typeof useBulkWrite>;
