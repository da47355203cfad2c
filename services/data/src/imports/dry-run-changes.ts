// What dry runs would have changed, row by row. Kept for a day, and read by window.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type { Rights } from '@almanac/service-kit/rights/rights';
import { AccountMoved, findDeparture } from '../clusters/account-placement.ts';
import { differenceKinds } from '../differences/difference-plan.ts';
import { type Pools, run } from '../postgres/pools.ts';
import { answerChunks } from '../rows/answer-chunks.ts';
import type { tableName } from '../sql/identifiers.ts';
import type { Catalogue } from '../tables/catalogue.ts';
import type { DryRunReading } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { requireRightToWork } from '../tables/table-rights.ts';
import { changesOfLoadSql, keptChangesSql, loadSql } from './dry-run-changes-sql.ts';
import { loadLimits } from './staging/load-limits.ts';
import type { LoadName } from './staging/load-sessions.ts';

/** Rows in one value, the same as operations, and how many of them are of each kind. */
export type ChangedBlock = { created: number; updated: number; deleted: number; rows: string; operations: string };

/**
 * The first rows that a load has changed, in its transaction; `loadLimits` bounds them. `written`:
 * the table that has its rows; `at`: their time.
 */
export async function readChanges(
  sql: Sql,
  table: DeployedTable,
  written: Parameters<typeof tableName>[0],
  at: string,
): Promise<ChangedBlock[]> {
  const { text, values } = changesOfLoadSql(table, written, at);
  return (await sql(text, values)).rows as ChangedBlock[];
}

/** Keeps them beside the result of the load. */
export async function keepChanges(sql: Sql, { accountId, loadId }: LoadName, blocks: ChangedBlock[]): Promise<void> {
  for (const [number, { created, updated, deleted, rows, operations }] of blocks.entries())
    await sql(
      'insert into changed_block (account_id, load_id, number, created, updated, deleted, rows, operations)' +
        ' values ($1::int, $2, $3::int, $4::int, $5::int, $6::int, $7::jsonb, $8::jsonb)',
      [accountId, loadId, number, created, updated, deleted, rows, operations],
    );
}

type Access = { pools: Pools; catalogue: Catalogue; rights: Rights };

/** `kind`: empty for all. */
type ChangesRequest = { loadId: string; kind: string; startRow: number; endRow: number };

/**
 * A window of what a dry run would have changed, as chunks of the JSON. 404 when there is no such
 * load, or its changes are no longer kept; 403 without the right to view the table.
 */
export async function readLoadChanges(
  access: Access,
  call: CallContext,
  { loadId, kind, startRow, endRow }: ChangesRequest,
): Promise<Buffer[]> {
  const { accountId } = call;
  const { rows } = await pgSql(access.pools.rows)(
    'select table_definition_id as id from finished_load where account_id = $1::int and load_id = $2',
    [accountId, loadId],
  );
  if (!rows[0]) throw notFound('Load');
  await requireRightToWork(access, call, 'view', rows[0].id as number);
  const kinds = differenceKinds.filter((each) => kind === '' || kind === each);
  if (kinds.length === 0 || startRow < 0 || endRow <= startRow || endRow - startRow > limits.gridRows)
    throw new ServiceError('bad_request', { code: 'out_of_range', message: 'There is no such window of changes.' });
  const window = { accountId, loadId, kinds, startRow, endRow };
  const [found] = await run<{ answer: string }>(access.pools.rows, keptChangesSql(window));
  if (!found) throw notFound('Load');
  return answerChunks(found.answer);
}

type Load = {
  load_id: string;
  table_definition_id: number;
  is_dry_run: boolean;
  status: string;
  changed: number;
  kept: number;
  is_recent: boolean;
};

/**
 * The dry run of an import table, or of a load id, through which rows are read as they would be.
 * 404 for an unknown one, 403 without the right to view its table, 422 unless all of its rows are
 * kept.
 */
export async function openDryRun(
  access: Access,
  call: CallContext,
  load: { importTableId: number } | { loadId: string },
): Promise<DryRunReading & { changed: number }> {
  const [found] = await run<Load>(access.pools.rows, loadSql(call.accountId, load));
  if (!found) {
    if ((await findDeparture(access.pools, call.accountId)) !== undefined) throw new AccountMoved();
    throw notFound('Dry run');
  }
  await requireRightToWork(access, call, 'view', found.table_definition_id);
  const reason = whyNotWhole(found);
  if (reason === undefined)
    return { loadId: found.load_id, tableDefinitionId: found.table_definition_id, changed: found.changed };
  const params = { changed: found.changed, kept: found.kept };
  throw new ServiceError('wrong_state', { code: 'wrong_state', message: reason, field: 'import_table_id', params });
}

function whyNotWhole({ is_dry_run, status, changed, kept, is_recent }: Load): string | undefined {
  if (!is_dry_run) return 'The import table was loaded; compare with an instant before (as_of) instead.';
  if (status === 'failed' || status === 'cancelled')
    return `The dry run is ${status}, so it has no rows; correct the file and import it with dry_run again.`;
  if (kept === changed && is_recent) return undefined;
  if (!is_recent || kept === 0)
    return 'The rows of the dry run are no longer kept; import the file with dry_run again.';
  const { changedRows, changedBytes } = loadLimits;
  return (
    `The dry run would change ${changed} rows, of which the first ${kept} were kept (at most ${changedRows}, or ` +
    `${changedBytes / 1024 ** 2} MB); split the file, or load it.`
  );
}
