import { infiniteQueryOptions } from '@tanstack/react-query';
import { AlmanacError, client, type Schemas } from '../../api/client.ts';
import type { ChangeKind } from '../../diff/change-kinds.ts';
import { rowWindows, windowFrom } from '../../diff/row-windows.ts';
import type { ImportTable } from '../queries.ts';
import { parseExactly } from './exact-json.ts';

export type Change = Schemas['DryRunChange'];
type Changes = Schemas['DryRunChanges'];

/** The rows that a dry run would change, a window at a time. */
export const changesQuery = ({ import_id, id, finished_at }: ImportTable, kind: ChangeKind | undefined) =>
  infiniteQueryOptions({
    // Beside those of the import, which are read again when it is applied: its changes are no more.
    queryKey: ['import_changes', import_id, id, finished_at, kind],
    ...rowWindows,
    queryFn: async ({ pageParam, signal }): Promise<Changes> => {
      const query = { ...(kind && { kind }), ...windowFrom(pageParam) };
      const params = { path: { id: import_id, table_id: id }, query };
      // As text, since the client would round its numbers.
      const text: unknown = await client.get('/imports/{id}/tables/{table_id}/changes', {
        params,
        parseAs: 'text',
        signal,
      });
      return parseExactly(String(text)) as Changes;
    },
    // What a dry run found stays as it is.
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Whether the rows of a dry run are no longer kept: they are for a day. */
export function isNoLongerKept(error: unknown): boolean {
  return error instanceof AlmanacError && error.status === 404;
}
