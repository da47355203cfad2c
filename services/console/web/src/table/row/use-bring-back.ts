// Brings back what rows were: their values of the past become edits of the rows of now, which are
// saved or proposed as any others.
import { useMutation } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import type { Row, Table } from '../../api/queries.ts';
import { bringBack, type Edits } from '../../edits/edits.ts';
import type { Editing } from '../../edits/use-editing.ts';

export type BringBack = {
  run: (past: readonly Row[]) => void;
  error: Error | null;
  /** All of these rows are now as they were. */
  isSame: boolean;
};

/** The call of the API takes a thousand rows. */
export const mostBroughtBack = 1_000;

/** `onDone` is called when there is something to save. */
export function useBringBack(table: Table, { edited }: Editing, onDone: () => void): BringBack {
  const act = useMutation({
    mutationFn: async (past: readonly Row[]) => {
      const query = {
        table_definition_id: table.table_definition_id,
        q: [`svc_sk:in:${past.map(({ svc_sk }) => svc_sk).join('|')}`],
        include_lookups: 'true' as const,
        per_page: mostBroughtBack,
      };
      const { data } = await client.get('/table_data', { params: { query } });
      const current = new Map((data as Row[]).map((row) => [row.svc_sk, row]));
      const columns = table.column_definitions.map(({ name }) => name);
      const make = (edits: Edits) => bringBack(edits, past, { current, columns });
      const made = make(edited.edits);
      const isSame = past.every(({ svc_sk }) => current.has(svc_sk) && !made.has(svc_sk));
      return { make, isSame };
    },
    onSuccess: ({ make, isSame }) => {
      if (isSame) return;
      edited.change(make);
      onDone();
    },
  });
  return { run: act.mutate, error: act.error, isSame: act.data?.isSame === true };
}
