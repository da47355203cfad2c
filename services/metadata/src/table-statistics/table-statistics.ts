// Statistics of deployed tables, for the lists of them: what data knows of their rows, and how many
// change requests are open. Only of tables whose rows the caller may view, which data judges.
import type { TableStatistics__Output } from '@almanac/protos/generated/almanac/data/v1/TableStatistics.ts';
import type { Page } from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';

const importStates = ['completed', 'completed_with_errors', 'failed'] as const;

const statisticsSchema = z
  .object({
    row_count: z
      .int()
      .nullable()
      .meta({ description: 'The rows that are not deleted, exactly; null for a large table without a recent count.' }),
    row_count_estimate: z
      .int()
      .nullable()
      .meta({ description: 'Where `row_count` is null, about how many; deleted rows count too. Null: unknown.' }),
    last_changed_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When a row was last created, changed or deleted; null: never.' }),
    last_changed_by: z
      .object({ user_id: z.int().nullable(), application_id: z.int().nullable() })
      .nullable()
      .meta({ description: 'Who did; null for what the service did itself, and without a change.' }),
    open_change_requests: z.int().meta({
      description: 'Neither applied, rejected nor cancelled, with a change of its rows. Drafts as last read.',
    }),
    last_import: z
      .object({ id: z.int(), at: z.iso.datetime(), status: z.enum(importStates) })
      .nullable()
      .meta({
        description:
          'The last one of thirty days that came as far as the rows, with its outcome for this table; dry runs are none.',
      }),
  })
  .meta({ id: 'TableStatistics' });

/** The member of an answer that `include=stats` asks for. */
export const statisticsShape = {
  stats: statisticsSchema.nullable().optional().meta({
    description:
      'With `include=stats`; null without the right to view its rows, and while it is not deployed (docs/how-to/list-tables.md).',
  }),
};
export type Statistics = z.infer<typeof statisticsSchema>;

/** The open change requests of each table of the account. */
type OpenRequests = (call: CallContext, ids: number[]) => Promise<ReadonlyMap<number, number>>;

/** The statistics of tables by id; of others there are none. */
export type StatisticsReader = (call: CallContext, ids: number[]) => Promise<ReadonlyMap<number, Statistics>>;

/** Reads statistics by one call of data, however many tables there are. */
export function createStatisticsReader({ data }: MetadataContext, countOpen: OpenRequests): StatisticsReader {
  return async (call, ids) => {
    if (ids.length === 0) return new Map();
    const [{ tables }, open] = await Promise.all([
      data.ListTableStatistics(call, { table_definition_ids: ids }),
      countOpen(call, ids),
    ]);
    return new Map(
      tables.map((table) => [table.table_definition_id, shown(table, open.get(table.table_definition_id) ?? 0)]),
    );
  };
}

function shown(table: TableStatistics__Output, openRequests: number): Statistics {
  const { last_changed_by_user: user, last_changed_by_application: application, last_import: last } = table;
  const isKnown = user !== undefined || application !== undefined;
  return {
    row_count: table.row_count ?? null,
    row_count_estimate: table.row_count_estimate ?? null,
    last_changed_at: table.last_changed_at === '' ? null : table.last_changed_at,
    last_changed_by: isKnown ? { user_id: user ?? null, application_id: application ?? null } : null,
    open_change_requests: openRequests,
    last_import: last && { id: last.id, at: last.at, status: last.status as (typeof importStates)[number] },
  };
}

/** Definitions with their statistics. */
export async function withStatistics<T extends { id: number }>(read: StatisticsReader, call: CallContext, items: T[]) {
  const statistics = await read(
    call,
    items.map(({ id }) => id),
  );
  return items.map((item) => ({ ...item, stats: statistics.get(item.id) ?? null }));
}

/** A page of definitions with their statistics. */
export async function withStatisticsOnPage<T extends { id: number }>(
  read: StatisticsReader,
  call: CallContext,
  page: Page<T>,
) {
  return { ...page, data: await withStatistics(read, call, page.data) };
}
