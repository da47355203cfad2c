// What dry runs would have changed, row by row. Kept for a day, and read by window.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type { Rights } from '@almanac/service-kit/rights/rights';
import { differenceKinds } from '../differences/difference-plan.ts';
import { type Pools, run } from '../postgres/pools.ts';
import { chunksOf } from '../rows/answer-chunks.ts';
import type { tableName } from '../sql/identifiers.ts';
import type { Catalogue } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { requireRightToWork } from '../tables/table-rights.ts';
import { changesOfLoadSql, keptChangesSql } from './dry-run-changes-sql.ts';
import type { LoadName } from './staging/load-sessions.ts';

/** Rows in one value, and how many of them are of each kind. */
export type ChangedBlock = { created: number; updated: number; deleted: number; rows: string };

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
  for (const [number, { created, updated, deleted, rows }] of blocks.entries())
    await sql(
      'insert into changed_block (account_id, load_id, number, created, updated, deleted, rows)' +
        ' values ($1::int, $2, $3::int, $4::int, $5::int, $6::int, $7::jsonb)',
      [accountId, loadId, number, created, updated, deleted, rows],
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
  return chunksOf(found.answer);
}
