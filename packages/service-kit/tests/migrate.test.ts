import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@almanac/testkit/eventually';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { pino } from 'pino';
import { migrate } from '../src/postgres/migrate.ts';

const logger = pino({ level: 'silent' });
const first = `
create table thing (id int primary key, note text default 'a;b');
-- a comment; with a semicolon
create function bump() returns trigger language plpgsql as $$ begin new.id := new.id; return new; end; $$;
create trigger bump before insert on thing for each row execute function bump();
`;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let directory: string;

beforeEach(async () => {
  database = await createTestDatabase('migrate');
  directory = await mkdtemp(join(tmpdir(), 'almanac-migrations-'));
  await addMigration('20260101000000_first', first);
});

afterEach(async () => {
  await database.drop();
  await rm(directory, { recursive: true });
});

describe('migrate', () => {
  it('applies what is new, in the order of the names, once', async () => {
    await expect(run()).resolves.toEqual(['20260101000000_first']);
    await expect(run()).resolves.toEqual([]);
    await addMigration('20260102000000_second', 'alter table thing add column more int;');
    await expect(run()).resolves.toEqual(['20260102000000_second']);
    await expect(query('select id, note, more from thing')).resolves.toEqual([]);
    const kept =
      'select migration_name, finished_at is not null as done, applied_steps_count as steps from _prisma_migrations order by 1';
    await expect(query(kept)).resolves.toEqual([
      { migration_name: '20260101000000_first', done: true, steps: 1 },
      { migration_name: '20260102000000_second', done: true, steps: 1 },
    ]);
  });

  it('runs in one of several instances that start at once', async () => {
    const results = await Promise.all([run(), run(), run(), run()]);
    expect(results.filter((names) => names.length > 0)).toEqual([['20260101000000_first']]);
    await expect(query('select count(*)::int as n from _prisma_migrations')).resolves.toEqual([{ n: 1 }]);
  });

  it('rolls a failing migration back, says what is wrong, and succeeds once it is corrected', async () => {
    await addMigration('20260102000000_second', 'create table other (id int);\nalter table thing add column id int;');
    await expect(run()).rejects.toThrow(/20260102000000_second failed[\s\S]*already exists/);
    await expect(query("select to_regclass('other') as other")).resolves.toEqual([{ other: null }]);
    await expect(run()).rejects.toThrow(/already exists/);
    await addMigration('20260102000000_second', 'create table other (id int);');
    await expect(run()).resolves.toEqual(['20260102000000_second']);
    await expect(run()).resolves.toEqual([]);
  });

  it('goes on after a process was killed in the middle of a migration', async () => {
    await run();
    await query(
      `insert into _prisma_migrations (id, checksum, migration_name, started_at, applied_steps_count)
       values (gen_random_uuid()::text, 'x', '20260102000000_second', now(), 0)`,
    );
    await addMigration('20260102000000_second', 'create table other (id int);');
    await expect(run()).resolves.toEqual(['20260102000000_second']);
  });

  it('retries a migration whose connection was cut in the middle', async () => {
    await run();
    await addMigration('20260102000000_second', 'create table other (id int);\nselect pg_sleep(120);');
    const cut = run();
    await Promise.all([expect(cut).rejects.toThrow(/20260102000000_second failed/), cutSleeping()]);
    await addMigration('20260102000000_second', 'create table other (id int);');
    await expect(run()).resolves.toEqual(['20260102000000_second']);
  });

  it('records a migration in the transaction that makes it, with a bounded wait for locks', async () => {
    await addMigration(
      '20260102000000_second',
      "create table other as select current_setting('lock_timeout') as lock_timeout;",
    );
    await run();
    const made = `select lock_timeout, made.xmin = recorded.xmin as "sameTransaction"
      from other, pg_class made, _prisma_migrations recorded
      where made.relname = 'other' and recorded.migration_name = '20260102000000_second'`;
    await expect(query(made)).resolves.toEqual([{ lock_timeout: '10s', sameTransaction: true }]);
  });

  it('records a failure as rolled back, with the reason of PostgreSQL', async () => {
    await addMigration('20260102000000_second', 'select 1 / 0;');
    await expect(run()).rejects.toThrow('Migration 20260102000000_second failed and was rolled back: division by zero');
    const kept = `select logs, finished_at, rolled_back_at is not null as "rolledBack", applied_steps_count as steps
      from _prisma_migrations where migration_name = '20260102000000_second'`;
    await expect(query(kept)).resolves.toEqual([
      { logs: 'division by zero', finished_at: null, rolledBack: true, steps: 0 },
    ]);
  });

  it('leaves migrations of a newer release alone, finished or not', async () => {
    await run();
    await query(
      `insert into _prisma_migrations (id, checksum, migration_name, finished_at)
       values ('a', 'a', '20270101000000_newer', now()), ('b', 'b', '20270102000000_newest', null)`,
    );
    await expect(run()).resolves.toEqual([]);
    await addMigration('20260102000000_second', 'create table other (id int);');
    await expect(run()).resolves.toEqual(['20260102000000_second']);
    await expect(query(`select id, rolled_back_at from _prisma_migrations where id in ('a', 'b')`)).resolves.toEqual([
      { id: 'a', rolled_back_at: null },
      { id: 'b', rolled_back_at: null },
    ]);
  });

  it('does not run a migration again that was edited after it was applied', async () => {
    await run();
    await addMigration('20260101000000_first', 'drop table thing;');
    await addMigration('20260102000000_second', 'create table other (id int);');
    await expect(run()).resolves.toEqual(['20260102000000_second']);
    await expect(query('select id from thing')).resolves.toEqual([]);
  });

  it('refuses a database with tables of another program', async () => {
    await query('create table unrelated (id int)');
    await expect(run()).rejects.toThrow(/not empty/);
    await expect(query("select to_regclass('thing') as thing")).resolves.toEqual([{ thing: null }]);
  });

  it('runs one query when there is nothing to do', async () => {
    await run();
    const { query: original } = pg.Client.prototype;
    const queries: unknown[] = [];
    pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
      queries.push(args[0]);
      return Reflect.apply(original, this, args);
    } as typeof original;
    try {
      await expect(run()).resolves.toEqual([]);
    } finally {
      pg.Client.prototype.query = original;
    }
    expect(queries).toHaveLength(1);
  });

  it.each([
    ['of its own', "hashtext('almanac'), hashtext('migrate')"],
    ['of the Prisma command line', '72707369'],
  ])('waits for the lock %s, but only with a migration to apply', async (_owner, key) => {
    await run();
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      await other.query(`select pg_advisory_lock(${key})`);
      await expect(run(0)).resolves.toEqual([]);
      await addMigration('20260102000000_second', 'create table other (id int);');
      await expect(run(0)).rejects.toThrow('Another instance has been migrating this database for too long.');
    } finally {
      await other.end();
    }
    await expect(run()).resolves.toEqual(['20260102000000_second']);
  });

  it('runs an index built concurrently', async () => {
    await addMigration('20260102000000_index', 'create index concurrently if not exists thing_note on thing (note);');
    await expect(run()).resolves.toEqual(['20260101000000_first', '20260102000000_index']);
    await expect(run()).resolves.toEqual([]);
  });

  it('names the database it could not reach, without its password', async () => {
    const url = 'postgres://someone:hidden@127.0.0.1:1/none';
    const failure = migrate({ databaseUrl: url, directory, logger, waitSeconds: 0 });
    await expect(failure).rejects.toThrow(/127\.0\.0\.1:1\/none/);
    await expect(failure).rejects.not.toThrow(/hidden/);
  });
});

function run(waitSeconds?: number): Promise<string[]> {
  return migrate({ databaseUrl: database.url, directory, logger, waitSeconds });
}

/** Ends the session of the sleeping migration, as soon as there is one. */
async function cutSleeping(): Promise<void> {
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`;
  await eventually(async () => expect(await query(cut)).toHaveLength(1));
}

async function addMigration(name: string, sql: string): Promise<void> {
  await mkdir(join(directory, name), { recursive: true });
  await writeFile(join(directory, name, 'migration.sql'), sql);
}

async function query(text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
