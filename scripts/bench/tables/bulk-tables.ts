// The tables of the bulk part: products of 12 columns with two references, in the product and in
// the bare database.
import type { Api } from '@almanac/api-client/api';
import { type DeployedTable, givenDeployedTable } from '@almanac/testkit/system/builders';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { deployCategories, importFile } from './imports.ts';
import { type BenchRow, columns as benchColumns, makeRow } from './rows.ts';

const suppliers = 4_096;

// The bench's columns, with a reference in the place of a supplier's name.
const columns = benchColumns.map((column) =>
  column.name === 'supplier'
    ? { name: 'supplier_id', data_type: 'integer', is_required: true, sql: 'integer not null references supplier' }
    : column,
);
const columnNames = columns.map(({ name }) => name);

/** Deploys the referenced tables with rows; returns their ids by the referring column. */
export async function deployReferences(api: Api): Promise<Record<string, number>> {
  const category_id = await deployCategories(api);
  const table = await givenDeployedTable(api, {
    name: 'Suppliers',
    columns: [
      { name: 'id', data_type: 'integer', is_primary_key: true, is_required: true },
      { name: 'name', data_type: 'string', length: 40 },
    ],
  });
  await importFile(api, table, Buffer.from(supplierCsv()));
  return { category_id, supplier_id: table.id };
}

/** Deploys a table of products without rows. */
export function deployBulkProducts(api: Api, name: string, references: Record<string, number>): Promise<DeployedTable> {
  const own = columns.map(({ sql, ...column }) => {
    const target = references[column.name];
    return target === undefined ? column : { ...column, foreign_key_table_id: target };
  });
  return givenDeployedTable(api, { name, columns: own });
}

const supplierCsv = () =>
  `id,name\n${Array.from({ length: suppliers }, (_, i) => `${i + 1},supplier ${i + 1}\n`).join('')}`;

/** The rows of a file by their numbers, and the changes in some of them. */
export type FileShape = { rows: number; from?: number; change?: (row: BenchRow, number: number) => BenchRow };

/** The file as CSV with a header. */
export function makeBulkCsv({ rows, from = 0, change = (row) => row }: FileShape): Buffer {
  const parts = [Buffer.from(`${columnNames.join(',')}\n`)];
  const rowsPerPart = 10_000;
  for (let begin = from; begin < from + rows; begin += rowsPerPart) {
    let lines = '';
    for (let number = begin; number < Math.min(from + rows, begin + rowsPerPart); number += 1) {
      const { supplier: _name, ...made } = makeRow(number);
      const row: BenchRow = change({ ...made, supplier_id: 1 + ((number * 7_919) % suppliers) }, number);
      lines += `${columnNames.map((name) => csvCell(row[name] ?? null)).join(',')}\n`;
    }
    parts.push(Buffer.from(lines));
  }
  return Buffer.concat(parts);
}

const csvCell = (cell: BenchRow[string]) =>
  typeof cell === 'string' && cell.includes(',') ? `"${cell}"` : (cell ?? '');

/** The baseline: PostgreSQL alone with the same table. */
export type BulkYardstick = {
  /** Recreates the table with its key, unique code, references and indexes. */
  makeTable(): Promise<void>;
  /** COPY FROM into that table. */
  copyIn(csv: Buffer): Promise<void>;
  /** COPY TO of that table as CSV; the bytes are dropped. */
  copyOut(): Promise<void>;
  /** Vacuums the table and writes a checkpoint. */
  rest(): Promise<void>;
  close(): Promise<void>;
};

// As the product's table has them.
const indexes = ['svc_updated_at', 'category_id, svc_sk', 'supplier_id, svc_sk'];
const systemColumns = [
  'svc_sk bigint generated always as identity primary key',
  'svc_created_at timestamptz not null default now()',
  'svc_updated_at timestamptz not null default now()',
  'svc_version integer not null default 1',
  'svc_is_deleted boolean not null default false',
];

/** Creates the tables in the bare database. */
export async function openBulkYardstick(url: string): Promise<BulkYardstick> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table supplier (id integer primary key, name varchar(40))');
  await client.query(`insert into supplier select i, 'supplier ' || i from generate_series(1, ${suppliers}) i`);
  const definition = [...systemColumns, ...columns.map(({ name, sql }) => `${name} ${sql}`)].join(', ');
  return {
    makeTable: async () => {
      await client.query('drop table if exists bulk_product');
      await client.query(`create table bulk_product (${definition})`);
      for (const index of indexes) await client.query(`create index on bulk_product (${index})`);
    },
    copyIn: async (csv) => {
      const names = columnNames.join(', ');
      const stream = client.query(copyFrom(`copy bulk_product (${names}) from stdin with (format csv, header)`));
      for (let offset = 0; offset < csv.length; offset += 65_536)
        if (!stream.write(csv.subarray(offset, offset + 65_536)))
          await new Promise((resolve) => stream.once('drain', resolve));
      await new Promise((resolve, reject) => stream.once('error', reject).once('finish', resolve).end());
    },
    // The columns of an export: a row's number and times, and its own columns.
    copyOut: async () => {
      const names = ['svc_sk', 'svc_created_at', 'svc_updated_at', ...columnNames].join(', ');
      for await (const _chunk of client.query(copyTo(`copy bulk_product (${names}) to stdout with (format csv)`)));
    },
    rest: async () => {
      await client.query('vacuum analyze bulk_product');
      await client.query('checkpoint');
    },
    close: () => client.end(),
  };
}
