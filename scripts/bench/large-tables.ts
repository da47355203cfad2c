// The same million rows twice: as real use makes them in the product, and by hand in the bare database; both at rest.
import pg from 'pg';
import type { BareDatabase } from './bare/bare-database.ts';
import type { Product } from './measuring/product.ts';
import { deployCategories, deployProducts, importFile } from './tables/imports.ts';
import { makeCsv } from './tables/rows.ts';

export type LargeTable = {
  id: number;
  rows: number;
  /** Waits until the product has made the indexes that pages have asked for. */
  waitForIndexes(): Promise<void>;
  /** Vacuums both tables and writes a checkpoint, so that neither side pays for what came before. */
  rest(): Promise<void>;
  close(): Promise<void>;
};

/** Makes both. */
export async function makeLargeTables(product: Product, bare: BareDatabase, rows: number): Promise<LargeTable> {
  const csv = makeCsv(rows);
  const table = await deployProducts(product.api, 'Products', await deployCategories(product.api));
  await importFile(product.api, table, csv);
  await bare.makeProducts(csv);
  const own = new pg.Client({ connectionString: product.databaseUrl('almanac_data') });
  const other = new pg.Client({ connectionString: bare.url });
  await Promise.all([own.connect(), other.connect()]);
  const name = await findPhysicalTable(own, table.id);
  const rest = async () => {
    await own.query(`vacuum analyze ${name}`);
    await other.query('vacuum analyze product');
    await own.query('checkpoint');
  };
  await rest();
  await requireSameKeys(own, name, rows);
  return {
    id: table.id,
    rows,
    rest,
    waitForIndexes: () => waitForIndexes(own, name),
    close: async () => {
      await Promise.all([own.end(), other.end()]);
    },
  };
}

async function findPhysicalTable(client: pg.Client, id: number): Promise<string> {
  const { rows } = await client.query(
    `select format('b_%s.t_%s', branch_id, lineage_id) as name from deployed_table where table_definition_id = $1`,
    [id],
  );
  return rows[0].name;
}

// Both sides ask for rows by the numbers from 1.
async function requireSameKeys(client: pg.Client, name: string, rows: number): Promise<void> {
  const { rows: found } = await client.query(
    `select min(svc_sk)::int as first, max(svc_sk)::int as last, count(*)::int from ${name}`,
  );
  const { first, last, count } = found[0];
  if (first !== 1 || last !== rows || count !== rows) throw new Error(`The rows are ${JSON.stringify(found[0])}.`);
}

// The product looks every few seconds at what was asked for: no index is on its way when none has come for three times that long.
const quietMs = 16_000;
const atMostMs = 240_000;

async function waitForIndexes(client: pg.Client, name: string): Promise<void> {
  const begun = performance.now();
  let state = '';
  let changedAt = begun;
  while (performance.now() - changedAt < quietMs && performance.now() - begun < atMostMs) {
    const { rows } = await client.query(
      `select string_agg(format('%s %s', indexrelid, indisvalid), ',' order by indexrelid) as state,
         exists (select from pg_stat_progress_create_index) as building
       from pg_index where indrelid = to_regclass($1)`,
      [name],
    );
    const [now] = rows;
    if (now.state !== state || now.building) changedAt = performance.now();
    state = now.state;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
