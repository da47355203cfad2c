import { infiniteQueryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import { rowWindows, windowFrom } from '../../diff/row-windows.ts';
import type { ImportTable } from '../queries.ts';

export type RejectedRow = Schemas['RejectedRow'];
export type FileColumn = Schemas['FileColumn'];

/** The rows of its file that the latest load of a table has rejected, a window at a time. */
export const rejectedRowsQuery = ({ import_id, id, finished_at }: ImportTable) =>
  infiniteQueryOptions({
    queryKey: ['rejected_rows', import_id, id, finished_at],
    ...rowWindows,
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { id: import_id, table_id: id }, query: windowFrom(pageParam) };
      return client.get('/imports/{id}/tables/{table_id}/rejected_rows', { params, signal });
    },
    // What a load has rejected stays as it is.
    staleTime: Number.POSITIVE_INFINITY,
  });
