// One row by its id. Those of a table that are asked for in one turn of the event loop are read by one statement: under load that is
// several at a time, and a statement, its way there and back included, costs far more than a row of its answer. Nobody waits for
// others to come.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { run } from '../database.ts';
import { longestRecord, surelyFit } from '../query/answer-size.ts';
import type { Reading } from '../query/reading.ts';
import { showSql } from './write-sql.ts';

type Row = { svc_sk: number | string; record: string; svc_version: number; svc_is_deleted: boolean };
type Ctx = Pick<DataContext, 'pools'>;

/** The row, deleted or not, as it is or was; undefined when there is none, or the table is no longer what its entry says. */
export async function readRow(
  { pools }: Ctx,
  table: DeployedTable,
  id: string,
  reading: Reading = {},
): Promise<Row | undefined> {
  if (reading.asOf === undefined && reading.targets === undefined) return (await join(pools, table, id)).get(id);
  const [row] = await run<Row>(pools.rows, showSql(table, [id], reading));
  return row;
}

type Group = { ids: string[]; most: number; rows: Promise<Map<string, Row>> };

// By entry, so by revision too. A group is gone from here when its statement begins: what is asked for later sees what was
// written before.
const groups = new WeakMap<DeployedTable, Group>();
const mostTogether = 50;

function join(pools: Ctx['pools'], table: DeployedTable, id: string): Promise<Map<string, Row>> {
  let group = groups.get(table);
  if (!group || group.ids.length === group.most) {
    group = begin(pools, table);
    groups.set(table, group);
  }
  group.ids.push(id);
  return group.rows;
}

// No more records than surely fit into one answer: so the record that doesn't fit fails for nobody else.
function begin(pools: Ctx['pools'], table: DeployedTable): Group {
  const ids: string[] = [];
  const read = async () => {
    await nextTurn();
    if (groups.get(table)?.ids === ids) groups.delete(table);
    const rows = await run<Row>(pools.rows, showSql(table, ids));
    return new Map(rows.map((row) => [String(row.svc_sk), row]));
  };
  return { ids, most: Math.min(mostTogether, surelyFit(longestRecord(table))), rows: read() };
}
