// A database beside the services' ones on the same server, made by hand for the bench: what the product is compared with.
import { once } from 'node:events';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { columns, makeCategoryCsv } from '../tables/rows.ts';

export type BareDatabase = {
  url: string;
  /** Makes `product` of a CSV file, with its indexes. */
  makeProducts(csv: Buffer): Promise<void>;
  close(): Promise<void>;
};

const columnNames = columns.map(({ name }) => name).join(', ');
const definition = [
  'svc_sk bigint generated always as identity primary key',
  'svc_created_at timestamptz not null default now()',
  'svc_updated_at timestamptz not null default now()',
  'svc_version integer not null default 1',
  'svc_is_deleted boolean not null default false',
  ...columns.map(({ name, sql }) => `${name} ${sql}`),
].join(', ');

// As deployed tables have it (data/src/deployments/schema/ddl.ts): without, pages under heavy updates cost twice the CPU.
const storage =
  'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_analyze_scale_factor = 0.02,' +
  ' autovacuum_analyze_threshold = 500, autovacuum_vacuum_insert_scale_factor = 0.05';

/** Beside the primary key and the unique code. */
const indexes = ['svc_updated_at', 'category_id', 'price, svc_sk', 'category_id, price, svc_sk'];

/** Makes the database; `address` is the server's superuser's. */
export async function openBareDatabase(address: (database: string) => string): Promise<BareDatabase> {
  const admin = new pg.Client({ connectionString: address('postgres') });
  await admin.connect();
  await admin.query('create database almanac_bench');
  await admin.end();
  const client = new pg.Client({ connectionString: address('almanac_bench') });
  await client.connect();
  await client.query('create table category (id integer primary key, name varchar(40))');
  await copy('category', 'id, name', makeCategoryCsv());

  async function copy(table: string, names: string, csv: Buffer): Promise<void> {
    const stream = client.query(copyFrom(`copy ${table} (${names}) from stdin with (format csv, header)`));
    for (let offset = 0; offset < csv.length; offset += 65_536)
      if (!stream.write(csv.subarray(offset, offset + 65_536))) await once(stream, 'drain');
    stream.end();
    await once(stream, 'finish');
  }
  const makeTable = (table: string) => client.query(`create table ${table} (${definition}) with (${storage})`);
  const makeIndexes = async (table: string) => {
    for (const index of indexes) await client.query(`create index on ${table} (${index})`);
  };

  return {
    url: address('almanac_bench'),
    makeProducts: async (csv) => {
      await makeTable('product');
      await copy('product', columnNames, csv);
      await makeIndexes('product');
    },
    close: () => client.end(),
  };
}
