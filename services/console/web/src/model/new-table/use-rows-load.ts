import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Sent } from '../../imports/sending/upload.ts';
import { type Load, loadRows } from './load-rows.ts';

/** The loading of the rows of a new table; leaving the page before all is sent stops it. */
export function useRowsLoad() {
  const queries = useQueryClient();
  const controller = useRef<AbortController>(undefined);
  const [sent, setSent] = useState<Sent>();
  const [importId, setImportId] = useState<number>();
  const run = useMutation({
    mutationFn: (load: Load) => {
      const made = new AbortController();
      controller.current = made;
      setSent(undefined);
      setImportId(undefined);
      return loadRows(load, { signal: made.signal, onProgress: setSent, onSent: setImportId });
    },
    onSettled: async (_id, _error, { table }) => {
      await Promise.all(
        [['imports'], ['rows', table.id], ['tables']].map((queryKey) => queries.invalidateQueries({ queryKey })),
      );
    },
  });
  useEffect(() => () => controller.current?.abort(), []);
  return {
    start: (load: Load) => run.mutate(load),
    stop: () => controller.current?.abort(),
    isPending: run.isPending,
    sent,
    /** Once the whole file is there. */
    importId,
    error: run.error,
  };
}
