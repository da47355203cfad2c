// A database beside the services' ones on the same server: the bare limit that they are compared with.
import { once } from 'node:events';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { readHome, readJson, readRuntime } from '../embedded/home.ts';
import type { Secrets } from '../embedded/secrets.ts';
import { columns } from './rows.ts';

export type RawDatabase = {
  url: string;
  /** COPY FROM of a CSV file into a new table with the same columns and key; answers seconds. */
  copyIn(table: string, csv: Buffer): Promise<number>;
  /** COPY TO as CSV, bytes thrown away; answers seconds. */
  copyOut(table: string): Promise<number>;
  /** Adds what the API shows besides, and brings statistics up to date. */
  finish(table: string): Promise<void>;
  close(): Promise<void>;
};

/** Makes the database on the embedded server of `home`. */
export async function openRawDatabase(home: string): Promise<RawDatabase> {
  const folder = readHome({ ALMANAC_HOME: home });
  const port = readRuntime(folder)?.postgres_port;
  const password = readJson<Secrets>(folder.secrets)?.database_passwords.superuser;
  const address = (database: string) => `postgres://almanac:${password}@127.0.0.1:${port}/${database}`;
  const admin = new pg.Client({ connectionString: address('postgres') });
  await admin.connect();
  await admin.query('create database almanac_bench');
  await admin.end();
  const client = new pg.Client({ connectionString: address('almanac_bench') });
  await client.connect();

  return {
    url: address('almanac_bench'),
    copyIn: async (table, csv) => {
      const definition = columns.map(({ name, sql }) => `${name} ${sql}`).join(', ');
      await client.query(`create table ${table} (${definition})`);
      const begun = performance.now();
      const stream = client.query(copyFrom(`copy ${table} from stdin with (format csv, header)`));
      for (let offset = 0; offset < csv.length; offset += 65_536)
        if (!stream.write(csv.subarray(offset, offset + 65_536))) await once(stream, 'drain');
      stream.end();
      await once(stream, 'finish');
      return (performance.now() - begun) / 1000;
    },
    copyOut: async (table) => {
      const begun = performance.now();
      for await (const _chunk of client.query(copyTo(`copy ${table} to stdout with (format csv, header)`)));
      return (performance.now() - begun) / 1000;
    },
    finish: async (table) => {
      await client.query(
        `alter table ${table} add svc_sk bigint generated always as identity, add svc_created_at timestamptz default now(),
           add svc_updated_at timestamptz default now(), add svc_is_deleted boolean not null default false`,
      );
      await client.query(`vacuum analyze ${table}`);
    },
    close: () => client.end(),
  };
}
