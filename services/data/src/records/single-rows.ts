// Rows that are read, created or changed one by one. Those of one table and one turn of the event
// loop share a statement (`rows/batching.ts`).
import { retryTransaction } from '@almanac/service-kit/postgres/database';
import { type Pools, run } from '../postgres/pools.ts';
import { createBatcher, wasRolledBack } from '../rows/batching.ts';
import type { Reading } from '../rows/reading.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Cells } from './record-input.ts';
import {
  insertSql,
  type KeyedUpdate,
  type NewRow,
  type RowUpdate,
  shapeOf,
  showKeyedSql,
  showSql,
  updateSql,
} from './write-sql.ts';

type WrittenRow = { svc_sk: number | string; record: string; svc_version: number };
type Row = WrittenRow & { svc_is_deleted: boolean };

/**
 * The row, deleted or not, as it is or was; undefined when there is none, or the table is not what
 * its entry says.
 */
export async function readRow(
  pools: Pools,
  table: DeployedTable,
  id: string,
  reading: Reading = {},
): Promise<Row | undefined> {
  const { asOf, targets, through } = reading;
  if (asOf === undefined && targets === undefined && through === undefined) return readPresentRow(pools, table, id);
  const [row] = await run<Row>(pools.rows, showSql(table, [id], reading));
  return row;
}

const readPresentRow = createBatcher<string, Row | undefined>({
  execute: async (pools, table, ids) => {
    const rows = await run<Row>(pools.rows, showSql(table, ids));
    const byId = new Map(rows.map((row) => [String(row.svc_sk), row]));
    return ids.map((id) => byId.get(id));
  },
});

/**
 * The live row with a primary key, as it is or was; undefined when there is none, or the table is
 * not what its entry says.
 */
export async function readKeyedRow(
  pools: Pools,
  table: DeployedTable,
  key: Cells,
  reading: Reading = {},
): Promise<Row | undefined> {
  if (reading.asOf === undefined && reading.targets === undefined) return readPresentKeyedRow(pools, table, key);
  const [row] = await run<Row>(pools.rows, showKeyedSql(table, [key], reading));
  return row;
}

const readPresentKeyedRow = createBatcher<Cells, Row | undefined>({
  execute: async (pools, table, keys) => {
    const rows = await run<Row & { place: number }>(pools.rows, showKeyedSql(table, keys));
    const byPlace = new Map(rows.map((row) => [Number(row.place), row]));
    return keys.map((_, i) => byPlace.get(i + 1));
  },
});

/** Inserts a row of the API's channel; undefined when the table is not what its entry says. */
export const insertRow = createBatcher<NewRow, WrittenRow | undefined>({
  execute: async (pools, table, rows) => {
    try {
      return await insertRows(pools, table, rows);
    } catch (error) {
      if (rows.length === 1 || !wasRolledBack(error)) throw error;
      // Alone, each row shows whether it was refused or waited too long for another writer.
      return rows.map(async (row) => (await insertRows(pools, table, [row]))[0]);
    }
  },
});

function insertRows({ rows: pool }: Pools, table: DeployedTable, rows: NewRow[]): Promise<WrittenRow[]> {
  return retryTransaction(() => run<WrittenRow>(pool, insertSql(table, rows, 'api')));
}

/**
 * Changes a row through the API's channel; undefined when it is absent or has another version, or
 * the table is not what its entry says.
 */
export const updateRow = createBatcher<RowUpdate, WrittenRow | undefined>({
  execute: async (pools, table, updates) => {
    const groups = Map.groupBy(updates, shapeOf);
    const written = new Map([...groups].map(([shape, group]) => [shape, updateUnlocked(pools, table, group)]));
    return updates.map(async (update) => {
      const done = (await written.get(shapeOf(update)))?.get(update);
      return done ?? (await updateRows(pools, table, [update]))[0];
    });
  },
});

// Changes the rows that no other transaction has locked. The others, and those that need an
// explanation, get statements of their own, so that no call waits for the row of another. So does
// all but one change of the same row.
async function updateUnlocked(
  pools: Pools,
  table: DeployedTable,
  updates: RowUpdate[],
): Promise<Map<RowUpdate, WrittenRow>> {
  const byId = new Map(updates.map((update) => [update.id, update]));
  const [first, ...others] = byId.values();
  if (!first || others.length === 0) return new Map();
  try {
    const rows = await updateRows(pools, table, [first, ...others], false);
    return new Map(rows.map((row) => [byId.get(String(row.svc_sk)) as RowUpdate, row]));
  } catch (error) {
    if (!wasRolledBack(error)) throw error;
    return new Map();
  }
}

/**
 * Changes the live row with a primary key, the same way; undefined also when no row has it. A row
 * that loses the key while the statement waits is left alone.
 */
export async function updateKeyedRow(
  pools: Pools,
  table: DeployedTable,
  update: KeyedUpdate,
): Promise<WrittenRow | undefined> {
  const [row] = await retryTransaction(() => run<WrittenRow>(pools.rows, updateSql(table, [update], 'api')));
  return row;
}

function updateRows(
  { rows: pool }: Pools,
  table: DeployedTable,
  updates: readonly [RowUpdate, ...RowUpdate[]],
  waits = true,
): Promise<WrittenRow[]> {
  return retryTransaction(() => run<WrittenRow>(pool, updateSql(table, updates, 'api', waits)));
}
