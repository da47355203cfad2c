// One row by its id.
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { run } from '../database.ts';
import type { Reading } from '../query/reading.ts';
import { together } from './together.ts';
import { showSql } from './write-sql.ts';

type Row = { svc_sk: number | string; record: string; svc_version: number; svc_is_deleted: boolean };
type Ctx = Pick<DataContext, 'pools'>;

const statementsAtOnce = 2; // of a table: what comes meanwhile goes with the next. With one alone, everybody waits for the same; with more, each has few rows

/** The row, deleted or not, as it is or was; undefined when there is none, or the table is no longer what its entry says. */
export async function readRow(
  ctx: Ctx,
  table: DeployedTable,
  id: string,
  reading: Reading = {},
): Promise<Row | undefined> {
  if (reading.asOf === undefined && reading.targets === undefined) return readPresent(ctx, table, id);
  const [row] = await run<Row>(ctx.pools.rows, showSql(table, [id], reading));
  return row;
}

const readPresent = together<string, Row | undefined>(statementsAtOnce, async ({ pools }, table, ids) => {
  const rows = await run<Row>(pools.rows, showSql(table, ids));
  const byId = new Map(rows.map((row) => [String(row.svc_sk), row]));
  return ids.map((id) => byId.get(id));
});
