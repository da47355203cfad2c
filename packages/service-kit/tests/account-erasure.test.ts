// The erasure of an account in a database made for the test: tables that refer to each other, to
// themselves, and in a circle of which one half is `set null`.
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool, pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { eraseAccount, sweepErasures } from '@almanac/service-kit/process/account-erasure';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import type pg from 'pg';

const schema = `
  create table account_erasure (account_id integer primary key, requested_at timestamptz(3) not null default now(),
    facts jsonb, counts jsonb not null default '{}', finished_at timestamptz(3));
  create table outbox (id bigserial primary key, message_id uuid not null unique, type text not null,
    payload jsonb not null, request_id text, occurred_at timestamptz(3) not null default now());
  create table branch (id serial primary key, account_id integer not null, parent_id integer references branch on delete restrict);
  create table "user" (id serial primary key, account_id integer not null, branch_id integer not null references branch on delete restrict);
  create table sheet (id serial primary key, account_id integer not null, branch_id integer not null references branch on delete restrict,
    shown_id integer);
  create table "column" (id serial primary key, account_id integer not null, sheet_id integer not null references sheet on delete cascade);
  alter table sheet add foreign key (shown_id) references "column" on delete set null;
  create table note (sheet_id integer not null references sheet on delete cascade, text text);
  create table kept (account_id integer not null)`;

const fill = `
  insert into branch (account_id, parent_id) values ($1, null);
  insert into branch (account_id, parent_id) select $1, max(id) from branch;
  insert into branch (account_id, parent_id) select $1, max(id) from branch;
  insert into "user" (account_id, branch_id) select $1, (select max(id) from branch) from generate_series(1, 12);
  insert into sheet (account_id, branch_id) select $1, (select max(id) from branch) from generate_series(1, 3);
  insert into "column" (account_id, sheet_id) select $1, id from sheet where account_id = $1;
  update sheet set shown_id = (select max(id) from "column" where sheet_id = sheet.id) where account_id = $1;
  insert into note select id, 'x' from sheet where account_id = $1;
  insert into kept values ($1);
  insert into outbox (message_id, type, payload) values (gen_random_uuid(), 'mail.requested', '{"account_id": $1}'),
    (gen_random_uuid(), 'kept.mail', '{"account_id": $1}')`;

const tables = ['branch', '"user"', 'sheet', '"column"', 'note', 'kept', 'outbox'];
const removed = { branch: 3, user: 12, sheet: 3, column: 3, outbox: 1 };
const logger = createLogger('test', 'silent');

let database: TestDatabase;
let pool: pg.Pool;
let sql: Sql;
let facts: number;

beforeEach(async () => {
  database = await createTestDatabase('erasure');
  pool = createPool({ url: database.url, name: 'erasure', logger });
  sql = pgSql(pool);
  await pool.query(schema);
  for (const account of ['7', '8']) await pool.query(fill.replaceAll('$1', account));
  facts = 0;
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const optionsOver = (over: pg.Pool, other?: () => Promise<void>) => ({
  service: 'stock',
  logger,
  stores: [{ pool: over, ...(other ? { removeOther: other } : {}) }],
  keepTables: ['kept'],
  keepMessages: ['kept.mail'],
  readFacts: async () => {
    facts += 1;
    return { sheets: (await sql('select count(*) as n from sheet where account_id = 7')).rows[0]?.n };
  },
});

const contents = async (account: number) => {
  const all: Record<string, unknown> = {};
  for (const table of tables) {
    const own = {
      note: 'sheet_id in (select id from sheet where account_id = $1)',
      outbox: `payload->>'account_id' = $1::int::text`,
    }[table];
    const rows = (
      await pool.query(`select t::text from ${table} t where ${own ?? 'account_id = $1'} order by 1`, [account])
    ).rows;
    all[table] = rows.map(({ t }) => t);
  }
  return all;
};
const reports = async () =>
  (await sql(`select payload from outbox where type = 'stock.account.erased' order by id`)).rows.map(
    ({ payload }) => payload,
  );

/** The pool of a process that dies at the given statement. */
function dyingAt(statement: number): { pool: pg.Pool; died: () => boolean } {
  let count = 0;
  const dies = async () => {
    count += 1;
    if (count === statement) throw new Error('killed');
  };
  const guard = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (of, name) => {
        const member = Reflect.get(of, name);
        if (typeof member !== 'function') return member;
        if (name === 'query')
          return async (...words: unknown[]) => {
            await dies();
            return Reflect.apply(member, of, words);
          };
        if (name === 'connect') return async () => guard(await Reflect.apply(member, of, []));
        return member.bind(of);
      },
    });
  return { pool: guard(pool), died: () => count >= statement };
}

describe('the erasure of an account', () => {
  it('deletes its rows and messages in every table that has its id, and nothing else', async () => {
    const neighbour = await contents(8);
    await eraseAccount(optionsOver(pool), 7);
    const left = await contents(7);
    expect(left).toEqual({
      ...Object.fromEntries(tables.map((table) => [table, []])),
      kept: ['(7)'],
      outbox: [expect.stringContaining('kept.mail'), expect.stringContaining('stock.account.erased')],
    });
    expect(await contents(8)).toEqual(neighbour);
    expect(await reports()).toEqual([{ account_id: 7, counts: removed, facts: { sheets: 3 } }]);
  });

  it('is finished, with exact counts and the facts of the beginning, whatever statement a process dies at', async () => {
    const neighbour = await contents(8);
    for (let statement = 1; ; statement += 1) {
      const dying = dyingAt(statement);
      await eraseAccount(optionsOver(dying.pool), 7).catch(() => {});
      if (!dying.died()) break;
      expect(statement).toBeLessThan(500);
      await eraseAccount(optionsOver(pool), 7);
      expect((await reports()).at(-1)).toEqual({ account_id: 7, counts: removed, facts: { sheets: 3 } });
      // From the beginning again, with the next statement.
      await pool.query(
        `delete from account_erasure; delete from kept where account_id = 7; delete from outbox where payload->>'account_id' = '7'`,
      );
      await pool.query(fill.replaceAll('$1', '7'));
    }
    expect(await contents(8)).toEqual(neighbour);
  });

  it('is taken up by the next round when it was left unfinished', async () => {
    let isDown = true;
    const other = async () => {
      if (isDown) throw new Error('the store is down');
    };
    await expect(eraseAccount(optionsOver(pool, other), 7)).rejects.toThrow('the store is down');
    await sweepErasures(optionsOver(pool, other));
    expect(await reports()).toEqual([]);
    isDown = false;
    await sweepErasures(optionsOver(pool, other));
    expect(await reports()).toEqual([{ account_id: 7, counts: removed, facts: { sheets: 3 } }]);
    expect(facts).toBe(1);
  });

  it('removes what arrives late, without another report, and then leaves no trace', async () => {
    await eraseAccount(optionsOver(pool), 7);
    await pool.query(fill.replaceAll('$1', '7'));
    await sweepErasures(optionsOver(pool));
    expect((await contents(7)).sheet).toEqual([]);
    expect(await reports()).toHaveLength(1);
    await sql(`update account_erasure set finished_at = now() - interval '32 days'`);
    await sweepErasures(optionsOver(pool));
    expect((await sql('select * from account_erasure')).rows).toEqual([]);
  });
});
