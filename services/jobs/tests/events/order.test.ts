// The log keeps the order in which a service announces, also while PostgreSQL ends sessions.
import { pgSql } from '@almanac/service-kit/postgres/database';
import { eventually } from '@almanac/testkit/eventually';
import { givenJobs, type Jobs } from '../given.ts';
import { endOfLog, rowsChanged, untilLogged } from './given.ts';

let jobs: Jobs;
beforeAll(async () => {
  jobs = await givenJobs();
});
afterAll(() => jobs.close());

/** The session that waits for the lock of the account's log, other than `after`. */
const waiting = (after = 0) =>
  eventually(async () => {
    const { rows } = await pgSql(jobs.context.pool)(
      `select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory' and pid <> $1::int`,
      [after],
    );
    expect(rows).toHaveLength(1);
    return rows[0]?.pid as number;
  });

it('an event whose append was cut off is in the log before the next one', async () => {
  const after = await endOfLog(jobs);
  const holder = await jobs.context.pool.connect();
  try {
    await holder.query("select pg_advisory_lock(hashtext('jobs.events'), 1)");
    await jobs.announce('data.rows.changed', rowsChanged(1));
    const first = await waiting();
    await jobs.announce('data.rows.changed', rowsChanged(2));
    await holder.query('select pg_terminate_backend($1)', [first]);
    await waiting(first);
  } finally {
    await holder.query('select pg_advisory_unlock_all()');
    holder.release();
  }
  const events = await untilLogged(jobs, 2, '', after);
  expect(events.map(({ resource }) => resource.id)).toEqual([1, 2]);
});
