// Whether the policy of a table lets the caller load rows. Data says so, and checks it once more
// when it loads them.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { JobsContext } from '../context.ts';
import type { import_table } from '../generated/prisma/client.ts';

type Access = Pick<JobsContext, 'data'>;

/** 422 when changes to the table are proposed, with a sentence that says how. */
export async function requireLoadable({ data }: Access, call: CallContext, tableDefinitionId: number): Promise<void> {
  await data.GetDeployedTable(call, { table_definition_id: tableDefinitionId, to_load: true });
}

/**
 * The same for all tables of an import but dry runs. What else is wrong with one, the load of that
 * table says; so it does when data is away.
 */
export async function requireAllLoadable(ctx: Access, call: CallContext, tables: import_table[]): Promise<void> {
  const loaded = tables.filter(({ dry_run }) => !dry_run);
  const found = await Promise.all(loaded.map((table) => findRefusal(ctx, call, table)));
  const problems = found.flat();
  if (problems.length > 0) throw new ServiceError('validation_failed', problems);
}

async function findRefusal(ctx: Access, call: CallContext, { id, table_definition_id }: import_table) {
  try {
    await requireLoadable(ctx, call, table_definition_id);
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const refusals = error.problems.filter(({ code }) => code === 'proposals_only');
    return refusals.map((problem) => ({ ...problem, params: { import_table_id: id } }));
  }
}
