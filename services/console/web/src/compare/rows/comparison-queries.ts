// The rows of a table that differ between two sides: how many, and which, a window at a time.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import type { ChangeKind } from '../../diff/change-kinds.ts';
import type { ChangedRow } from '../../diff/diff-rows.tsx';
import { rowWindows, windowFrom } from '../../diff/row-windows.ts';
import type { Side } from '../compare-view.ts';

/** `tableId`: the table on either side; the server finds that of the same lineage on the other. */
export type Compared = { tableId: number; left: Side; right: Side };

const sideOf = ({ branchId, asOf }: Side): Schemas['DifferenceSide'] => ({
  branch_id: branchId,
  ...(asOf !== undefined && { as_of: asOf }),
});

const bodyOf = ({ tableId, left, right }: Compared) => ({
  table_definition_id: tableId,
  left: sideOf(left),
  right: sideOf(right),
});

/** How many rows of each kind there are. */
export const differenceCountsQuery = (compared: Compared) =>
  queryOptions({
    queryKey: ['comparisons', 'counts', compared],
    queryFn: async ({ signal }) => {
      const body = { ...bodyOf(compared), startRow: 0, endRow: 1 };
      return (await client.post('/table_data/diff', { body, signal })).counts;
    },
    // A comparison of large tables takes seconds: it is made when one comes to it.
    refetchOnWindowFocus: false,
  });

export const differencesQuery = (compared: Compared, kind: ChangeKind | undefined) =>
  infiniteQueryOptions({
    queryKey: ['comparisons', 'rows', compared, kind],
    ...rowWindows,
    queryFn: ({ pageParam, signal }) =>
      client.post('/table_data/diff', {
        body: {
          ...bodyOf(compared),
          ...(kind && { kinds: [kind] }),
          ...windowFrom(pageParam),
        },
        signal,
      }),
  });

/** A difference as a change from left to right. */
export function asChangedRow({ kind, key, cells, id_left, id_right }: Schemas['RowDifference']): ChangedRow {
  const side = (name: 'from' | 'to') =>
    Object.fromEntries(Object.entries(cells).map(([column, cell]) => [column, cell[name]]));
  return {
    id: `${id_left} ${id_right}`,
    kind,
    key,
    base: kind === 'created' ? null : { ...key, ...side('from') },
    proposed: kind === 'deleted' ? null : { ...key, ...side('to') },
    current: null,
    changed_columns: kind === 'updated' ? Object.keys(cells) : [],
  };
}
