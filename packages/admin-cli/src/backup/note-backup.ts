// Notes a finished backup in jobs' database, from where the metric of its age comes.
import { pgSql } from '@almanac/service-kit/postgres/database';
import { hasSqlState } from '@almanac/service-kit/postgres/errors';
import { OperatorError } from '../operator.ts';
import { connect } from './dump/connect.ts';
import type { Manifest } from './manifest.ts';
import type { Places } from './places.ts';

/** A failure says that the backup is whole nevertheless. */
export async function noteBackup({ databases }: Places, { taken_at }: Manifest, folder: string): Promise<void> {
  const jobs = databases.find(({ name }) => name === 'jobs') as Places['databases'][number];
  try {
    const client = await connect(jobs);
    try {
      const sql = pgSql(client);
      await sql('insert into finished_backup (taken_at) values ($1::timestamptz) on conflict do nothing', [taken_at]);
      await sql('delete from finished_backup where taken_at < $1::timestamptz', [taken_at]);
    } finally {
      await client.end();
    }
  } catch (error) {
    if (hasSqlState(error, 'undefined_table')) return; // jobs is of an earlier release
    throw new OperatorError(
      `The backup in ${folder} is whole, but its time could not be noted for the metric of its age: ${(error as Error).message}`,
    );
  }
}
