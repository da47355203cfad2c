import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import type { UsageLine } from './usage-sums.ts';
import type { Channel, Period } from './usage-view.ts';

// The API has a line for each day, method, resource and caller; beyond these the page would ask
// for more pages than a person may in a moment.
const pageSize = 1_000;
const mostPages = 20;

/** The lines of a period; `isAll` is false when there were too many of them. */
export const usageQuery = (channel: Channel, { from, to }: Period) =>
  queryOptions({
    queryKey: ['usage', channel, from, to],
    queryFn: async ({ signal }) => {
      const lines: UsageLine[] = [];
      for (let page = 1; page <= mostPages; page += 1) {
        const query = { channel, from, to, page, per_page: pageSize, sort: '-day' };
        const { data, meta } = await client.get('/usage', { params: { query }, signal });
        lines.push(...data);
        if (page >= meta.total_pages) return { lines, isAll: true };
      }
      return { lines, isAll: false };
    },
    staleTime: 60_000,
  });
