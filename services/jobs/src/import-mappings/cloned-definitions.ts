// When a table definition is cloned, gives the clone the import mappings of its source.

import { normalizeName } from '@almanac/service-kit/api/names';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { type MessageOf, messageId } from '@almanac/service-kit/messaging/bus/received-message';
import { receiveOnce } from '@almanac/service-kit/messaging/inbox';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import type { import_mapping, Prisma } from '../generated/prisma/client.ts';
import { lockMappings, transact } from '../transaction.ts';
import { mappingOf } from './mapping.ts';

const queue = 'jobs.cloned_definitions';
const payloads = {
  'metadata.table_definition.cloned': z.object({
    account_id: messageId,
    source_id: messageId,
    table_definition_id: messageId,
  }),
};

/** Consumes the event for as long as the bus runs. */
export function consumeClones(ctx: Pick<JobsContext, 'prisma'>, bus: Bus): Promise<void> {
  return bus.consume(queue, payloads, (message) => receive(ctx, message));
}

async function receive(ctx: Pick<JobsContext, 'prisma'>, { id, payload }: MessageOf<typeof payloads>): Promise<void> {
  const { account_id, source_id, table_definition_id } = payload;
  await transact(ctx, async (tx) => {
    if (!(await receiveOnce(prismaSql(tx), queue, id))) return;
    await lockMappings(tx, table_definition_id);
    const sources = await tx.import_mapping.findMany({
      where: { account_id, table_definition_id: source_id },
      orderBy: { id: 'asc' },
    });
    // Mappings made for the clone since then stay: their names, and their default.
    const mine = { account_id, table_definition_id };
    const kept = await tx.import_mapping.findMany({ where: mine, select: { name: true, is_default: true } });
    const hasDefault = kept.some(({ is_default }) => is_default);
    const names = new Set(kept.map(({ name }) => normalizeName(name)));
    const missing = sources.filter(({ name }) => !names.has(normalizeName(name)));
    await tx.import_mapping.createMany({
      data: missing.map((source) => ({
        ...mine,
        ...copyOf(source),
        is_default: source.is_default && !hasDefault,
      })),
      skipDuplicates: true,
    });
  });
}

function copyOf(
  source: import_mapping,
): Omit<Prisma.import_mappingCreateManyInput, 'account_id' | 'table_definition_id'> {
  const { id: _id, ...mapping } = mappingOf(source);
  return mapping;
}
