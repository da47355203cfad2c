// Whether calls cost the same in a small installation and in a large one: a few calls on one table, before and after thousands of accounts,
// users and deployed tables have come beside it, and calls that each take another of those tables.

import pg from 'pg';
import { runSlice, type Side } from './compare.ts';
import type { Product } from './measuring/product.ts';
import { median, quantile } from './measuring/quantiles.ts';
import type { Request } from './operations.ts';
import { deployCategories, deployProducts, importFile } from './tables/imports.ts';
import { makeCsv } from './tables/rows.ts';

/** `to`: how many accounts, users and tables there are in the end. */
export type GrowthSize = { to: number; rounds: number; requests: number };
type Cost = { cpu: number; p50: number };
type Call = { what: string; ask: (number: number) => Request };

const ownRows = 1_000;
const tablesPerBranch = 100;
const firstId = 1_000_000;

/** Measures, lets the installation grow, and measures again. */
export async function measureGrowth(product: Product, size: GrowthSize, say: (text: string) => void): Promise<void> {
  const table = await deployProducts(product.api, 'Growing', await deployCategories(product.api));
  await importFile(product.api, table, makeCsv(ownRows));
  const { gateway, data, billing, postgres } = product.processes as Record<string, number>;
  const side = { target: product.gateway, processes: { gateway, data, billing, postgres } } as Side;
  const measure = async (calls: Call[]) => {
    const costs = new Map<string, Cost>();
    for (const { what, ask } of calls) costs.set(what, await costOf(side, ask, size));
    return costs;
  };
  const calls = callsOn(table.id);
  await grow(product, table.id, 0, 1);
  const before = await measure([...calls, eachOther(1)]);
  say(`making ${size.to.toLocaleString('en')} accounts, users and tables …`);
  await grow(product, table.id, 1, size.to);
  const after = await measure([...calls, eachOther(size.to)]);
  say(
    `\ncost of a call with 1 and with ${size.to.toLocaleString('en')} accounts, users and deployed tables, through the gateway`,
  );
  for (const [what, { cpu, p50 }] of after) {
    const old = before.get(what) as Cost;
    const pair = (from: number, to: number) => `${from.toFixed(3)} → ${to.toFixed(3)} ms (× ${(to / from).toFixed(2)})`;
    say(`${what.padEnd(40)} CPU ${pair(old.cpu, cpu)}, p50 ${pair(old.p50, p50)}`);
  }
}

async function costOf(side: Side, ask: Call['ask'], { rounds, requests }: GrowthSize): Promise<Cost> {
  let number = 0;
  const slices = [];
  // The first slice warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const from = number;
    number += requests;
    slices.push(await runSlice(side, (n) => ask(from + n), requests));
  }
  const measured = slices.slice(1);
  return {
    cpu: median(measured.map(({ cpu }) => cpu)),
    p50: quantile(
      measured.flatMap(({ times }) => times),
      0.5,
    ),
  };
}

const grid = (id: number, more: Record<string, unknown> = {}): Request => ({
  method: 'POST',
  path: '/api/v1/table_data/grid',
  body: { table_definition_id: id, startRow: 0, endRow: 100, ...more },
});

const callsOn = (id: number): Call[] => [
  {
    what: 'row read',
    ask: (number) => ({
      method: 'GET',
      path: `/api/v1/table_data/${1 + (number % ownRows)}?table_definition_id=${id}`,
    }),
  },
  { what: 'grid page, sorted', ask: () => grid(id, { sortModel: [{ colId: 'price', sort: 'asc' }] }) },
];

const eachOther = (tables: number): Call => ({
  what: 'grid page, empty, of a table each',
  ask: (number) => grid(firstId + (number % tables)),
});

// As the services keep them, set-based: making so many through the API would take hours of hashing passwords and deploying.
async function grow(product: Product, like: number, from: number, to: number): Promise<void> {
  await run(product.databaseUrl('almanac_identity'), async (client) => {
    const range = [firstId + from, firstId + to - 1];
    await client.query(
      `insert into account (id, name, updated_at) select n, 'Account ' || n, now() from generate_series($1::int, $2::int) n`,
      range,
    );
    await client.query(
      `insert into "user" (account_id, email, email_key, updated_at)
       select 1, n || '@example.com', n || '@example.com', now() from generate_series($1::int, $2::int) n`,
      range,
    );
    await client.query('analyze');
  });
  await run(product.databaseUrl('almanac_data'), async (client) => {
    const { rows } = await client.query(
      `select format('set role %I', tableowner) as become from pg_tables where tablename = 'deployed_table'`,
    );
    await client.query(rows[0].become);
    for (let first = from; first < to; first += tablesPerBranch)
      await client.query(growTablesSql(like, firstId + first, firstId + Math.min(to, first + tablesPerBranch) - 1));
    await client.query('analyze deployed_table');
    await client.query('reset role');
    await client.query('checkpoint');
  });
}

// Tables of the same account, each a hundred on a branch of its own; no transaction holds more locks than PostgreSQL has room for.
const growTablesSql = (like: number, first: number, last: number) => `do $$
  declare d deployed_table; branch int := ${Math.floor(first / tablesPerBranch)};
  begin
    select * into d from deployed_table where table_definition_id = ${like};
    execute format('create schema if not exists b_%s', branch);
    for id in ${first}..${last} loop
      execute format('create table b_%s.t_%s (like b_%s.t_%s including all)', branch, id, d.branch_id, d.lineage_id);
      execute format('create table b_%s.h_%s (like b_%s.h_%s including all)', branch, id, d.branch_id, d.lineage_id);
      insert into deployed_table (table_definition_id, account_id, branch_id, domain_id, lineage_id, uuid, key, name, load_type, version, structure, history_since)
        values (id, d.account_id, branch, d.domain_id, id, gen_random_uuid(), 'table_' || id, 'Table ' || id, d.load_type, 1, d.structure, d.history_since);
    end loop;
  end $$`;

async function run(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
