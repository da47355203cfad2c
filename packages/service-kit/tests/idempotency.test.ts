import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import type pg from 'pg';
import { pino } from 'pino';
import type { CallContext } from '../src/caller/call-context.ts';
import {
  type Answer,
  answerOnce,
  deleteAnswer,
  findAnswer,
  keyedBy,
  readIdempotencyKey,
  sweepAnswers,
} from '../src/caller/idempotency.ts';
import { createPool, pgSql, withTransaction } from '../src/postgres/database.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
let made = 0;

beforeAll(async () => {
  database = await createTestDatabase('idempotency');
  pool = createPool({ url: database.url, name: 'idempotency-test', max: 10, logger: pino({ level: 'silent' }) });
  await pool.query(`
    create table idempotent_answer (
      account_id integer not null, caller text not null, key text not null, request_hash bytea not null,
      headers jsonb, body text, created_at timestamptz(3) not null default now(), primary key (account_id, caller, key)
    );
    create table thing (id int not null)`);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await pool.query('truncate idempotent_answer, thing');
});

const call = { accountId: 1, userId: 7, issuer: 'gateway' } as CallContext;
const request = (key = 'one', ...content: string[]) => keyedBy(call, key, ...content);

/** Makes a thing in the transaction of its answer, which has the number of the thing. */
const make = (keyed = request(), after = async () => {}): Promise<Answer> =>
  withTransaction(pool, (sql) =>
    answerOnce(sql, keyed, async () => {
      made += 1;
      await sql('insert into thing values ($1::int)', [made]);
      await after();
      return { body: String(made), etag: `"${made}"` };
    }),
  );
const things = async () => (await pool.query('select count(*)::int as n from thing')).rows[0].n;

describe('an answer', () => {
  it('is made once for concurrent requests, and replayed', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => make()));
    answers.push(await make(), (await findAnswer(pgSql(pool), request())) as Answer);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect([answers[0]?.etag, await things()]).toEqual([`"${answers[0]?.body}"`, 1]);
  });

  it('is kept with its effect or not at all', async () => {
    const failing = make(request(), () => Promise.reject(new Error('later')));
    await expect(failing).rejects.toThrow('later');
    expect([await findAnswer(pgSql(pool), request()), await things()]).toEqual([undefined, 0]);
    await make();
    expect(await things()).toBe(1);
  });

  it('that the work doesn’t give is not stored', async () => {
    const keyed = request();
    const none = await withTransaction(pool, (sql) => answerOnce(sql, keyed, async () => undefined));
    expect(none).toBeUndefined();
    expect((await pool.query('select count(*)::int as n from idempotent_answer')).rows).toEqual([{ n: 0 }]);
  });

  it('is of one request, one caller and one account', async () => {
    const first = await make(request('one', 'POST', '/things'));
    await expect(make(request('one', 'POST', '/others'))).rejects.toMatchObject({ kind: 'validation_failed' });
    await expect(findAnswer(pgSql(pool), request('one'))).rejects.toMatchObject({ kind: 'validation_failed' });
    for (const other of [
      { ...call, accountId: 2 },
      { ...call, userId: 8 },
      { ...call, userId: undefined, applicationId: 7 },
    ])
      expect((await make(keyedBy(other as CallContext, 'one', 'POST', '/things'))).body).not.toBe(first.body);
    expect(await things()).toBe(4);
  });

  it('expires after a day, and can be deleted', async () => {
    await make();
    await deleteAnswer(pgSql(pool), request());
    await make();
    await pool.query("update idempotent_answer set created_at = created_at - interval '24 hours'");
    expect(await findAnswer(pgSql(pool), request())).toBeUndefined();
    await make();
    expect(await things()).toBe(3);
    await make(request('old'));
    await pool.query("update idempotent_answer set created_at = created_at - interval '25 hours' where key = 'old'");
    await sweepAnswers(pgSql(pool));
    expect((await pool.query('select key from idempotent_answer')).rows).toEqual([{ key: 'one' }]);
  });
});

it('a key is 1 to 255 visible characters of ASCII, once', () => {
  expect(readIdempotencyKey(undefined)).toBeUndefined();
  for (const key of ['x', '!~', 'a'.repeat(255)]) expect(readIdempotencyKey(key)).toBe(key);
  for (const key of ['', ' ', 'a b', 'ü', 'a\u007f', 'a'.repeat(256), ['a', 'b']])
    expect(() => readIdempotencyKey(key)).toThrow('Idempotency-Key');
});
