// The branch and domain of tables, which decide about rights: read from metadata for mappings, and
// updated by events for imports and exports.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { type MessageOf, messageId } from '@almanac/service-kit/messaging/bus/received-message';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Where } from '@almanac/service-kit/rights/rights';
import { z } from 'zod';
import type { JobsContext } from './context.ts';

/** The current branch and domain of each table; a removed table has neither. */
export async function readPlaces(
  ctx: Pick<JobsContext, 'metadata'>,
  call: CallContext,
  tableDefinitionIds: number[],
): Promise<Map<number, Where>> {
  const { places } = await ctx.metadata.ListTablePlaces(call, { ids: tableDefinitionIds });
  const known = new Map(places.map((place) => [place.table_definition_id, place]));
  return new Map(
    tableDefinitionIds.map((id) => {
      const place = known.get(id);
      return [id, { domainId: place?.domain_id, branchId: place?.branch_id, tableDefinitionId: id }];
    }),
  );
}

const payloads = {
  'metadata.table_definition.deployed': z.object({ account_id: messageId, table_definition_id: messageId }),
};

type MoveContext = Pick<JobsContext, 'data' | 'pool'>;

/**
 * Moves imports and exports to the domain in which their table is deployed, so that rights on the
 * table apply to them.
 */
export function consumeMoves(ctx: MoveContext, bus: Bus): Promise<void> {
  return bus.consume('jobs.deployed_tables', payloads, (message) => receive(ctx, message));
}

// Messages may arrive twice and out of order, so the current domain is read from data.
async function receive({ data, pool }: MoveContext, { payload }: MessageOf<typeof payloads>): Promise<void> {
  const { account_id, table_definition_id } = payload;
  try {
    const { domain_id } = await data.GetDeployedTable({ accountId: account_id }, { table_definition_id });
    for (const table of ['data_export', 'import_table'])
      await pgSql(pool)(
        `update ${table} set domain_id = $3::int
         where account_id = $1::int and table_definition_id = $2::int and domain_id <> $3::int`,
        [account_id, table_definition_id, domain_id],
      );
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'not_found') throw error; // the table was removed
  }
}
