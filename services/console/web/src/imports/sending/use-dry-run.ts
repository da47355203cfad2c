import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type DryRun, startDryRun } from './dry-run.ts';
import type { Sent } from './upload.ts';

export type RunningDryRun = {
  start: (given: DryRun) => void;
  /** The same once more, with something else; undefined before the first one. */
  again: ((part?: Partial<DryRun>) => void) | undefined;
  stop: () => void;
  isRunning: boolean;
  sent: Sent | undefined;
  error: unknown;
};

/** A dry run that is being started; leaving the page stops it. */
export function useDryRun(onStarted: (importId: number) => void): RunningDryRun {
  const queries = useQueryClient();
  const controller = useRef<AbortController>(undefined);
  const [sent, setSent] = useState<Sent>();
  const run = useMutation({
    mutationFn: (given: DryRun) => {
      const made = new AbortController();
      controller.current = made;
      setSent(undefined);
      return startDryRun(given, { signal: made.signal, onProgress: setSent });
    },
    onSuccess: (importId) => onStarted(importId),
    onSettled: () => queries.invalidateQueries({ queryKey: ['imports'] }),
  });
  useEffect(() => () => controller.current?.abort(), []);
  const { variables, mutate } = run;
  const wasStopped = run.error instanceof DOMException && run.error.name === 'AbortError';
  return {
    start: (given) => mutate(given),
    again: variables && ((part) => mutate({ ...variables, ...part })),
    stop: () => controller.current?.abort(),
    isRunning: run.isPending,
    sent,
    error: wasStopped ? undefined : run.error,
  };
}
