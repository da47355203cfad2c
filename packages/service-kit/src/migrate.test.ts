import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase } from '@almanac/testkit/postgres';
import pg from 'pg';
import { pino } from 'pino';
import { migrate } from './migrate.ts';

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

  it('lets one of several instances that start at once do the work', async () => {
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

  it('goes on after a process that was killed in the middle of a migration', async () => {
    await run();
    await query(
      `insert into _prisma_migrations (id, checksum, migration_name, started_at, applied_steps_count)
       values (gen_random_uuid()::text, 'x', '20260102000000_second', now(), 0)`,
    );
    await addMigration('20260102000000_second', 'create table other (id int);');
    await expect(run()).resolves.toEqual(['20260102000000_second']);
  });

  it('runs an index built concurrently', async () => {
    await addMigration('20260102000000_index', 'create index concurrently if not exists thing_note on thing (note);');
    await expect(run()).resolves.toEqual(['20260101000000_first', '20260102000000_index']);
  });

  it('names the database it could not reach, without its password', async () => {
    const url = 'postgres://someone:hidden@127.0.0.1:1/none';
    const failure = migrate({ databaseUrl: url, directory, logger, waitSeconds: 0 });
    await expect(failure).rejects.toThrow(/127\.0\.0\.1:1\/none/);
    await expect(failure).rejects.not.toThrow(/hidden/);
  });
});

function run(): Promise<string[]> {
  return migrate({ databaseUrl: database.url, directory, logger });
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
