import { randomUUID } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import type pg from 'pg';
import { pino } from 'pino';
import { type BusMessage, UnroutableError } from '../src/messaging/bus/message.ts';
import { receiveOnce, sweepInbox } from '../src/messaging/inbox.ts';
import { announce, createOutboxRelay, type OutboxRelay } from '../src/messaging/outbox.ts';
import { createPool, pgSql, withTransaction } from '../src/postgres/database.ts';

const logger = pino({ level: 'silent' });
let database: TestDatabase;
let pool: pg.Pool;
let relays: OutboxRelay[] = [];

beforeEach(async () => {
  database = await createTestDatabase('outbox');
  pool = createPool({ url: database.url, name: 'outbox-test', logger });
  await pool.query(`
    create table outbox (
      id bigserial primary key, message_id uuid not null unique, type text not null, payload jsonb not null,
      request_id text, occurred_at timestamptz(3) not null default now()
    );
    create table inbox (
      consumer text not null, message_id uuid not null, received_at timestamptz(3) not null default now(),
      primary key (consumer, message_id)
    )`);
});

afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
  relays = [];
  await pool.end();
  await database.drop();
});

/** Starts a relay to a bus with this `publish`. */
function startRelay(publish: (messages: BusMessage[]) => Promise<void>): OutboxRelay {
  const relay = createOutboxRelay({ pool, bus: { publish }, logger });
  relays.push(relay);
  relay.start();
  return relay;
}

describe('announce', () => {
  it('publishes a message if and only if the transaction commits', async () => {
    const published: BusMessage[] = [];
    const relay = startRelay(async (messages) => void published.push(...messages));
    const payload = { account_id: 1, text: 'ä\'"' };
    const failed = withTransaction(pool, async (sql) => {
      await announce(sql, { type: 'test.thing.created', payload });
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    const id = await withTransaction(pool, (sql) =>
      announce(sql, { type: 'test.thing.created', payload, requestId: 'req-1' }),
    );
    await eventually(() => expect(published).toHaveLength(1));
    expect(published[0]).toEqual({
      v: 1,
      id,
      type: 'test.thing.created',
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      payload,
      request_id: 'req-1',
    });
    await eventually(async () => expect(await relay.lag()).toEqual({ waiting: 0, oldestSeconds: 0 }));
  });
});

describe('the relay', () => {
  it('publishes each message once and in order, also many, also with several relays', async () => {
    const published: number[] = [];
    const publish = async (messages: BusMessage[]) =>
      void published.push(...messages.map(({ payload }) => payload.n as number));
    await withTransaction(pool, async (sql) => {
      for (let n = 0; n < 350; n += 1) await announce(sql, { type: 'test.thing.changed', payload: { n } });
    });
    startRelay(publish);
    await eventually(() => expect(published).toEqual(Array.from({ length: 350 }, (_, n) => n)));
    startRelay(publish);
    startRelay(publish);
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        withTransaction(pool, (sql) => announce(sql, { type: 'test.thing.changed', payload: { n: 1000 + n } })),
      ),
    );
    await eventually(() => expect(published).toHaveLength(400));
    expect(new Set(published).size).toBe(400);
  });

  it('keeps messages that the bus refused, and retries', async () => {
    let refusals = 3;
    const published: unknown[] = [];
    const relay = startRelay(async (messages) => {
      refusals -= 1;
      if (refusals >= 0) throw new Error('the broker is away');
      published.push(...messages.map(({ payload }) => payload.n));
    });
    await withTransaction(pool, (sql) => announce(sql, { type: 'test.thing.changed', payload: { n: 1 } }));
    await eventually(() => expect(published).toEqual([1]));
    await eventually(async () => expect((await relay.lag()).waiting).toBe(0));
  });

  it('keeps work that has no queue yet, without delaying the rest', async () => {
    const published: string[] = [];
    let hasQueue = false;
    startRelay(async (messages) => {
      const work = messages.filter(({ type }) => type.endsWith('.requested') && !hasQueue);
      published.push(...messages.filter((message) => !work.includes(message)).map(({ type }) => type));
      if (work.length > 0) throw new UnroutableError(work);
    });
    await withTransaction(pool, async (sql) => {
      await announce(sql, { type: 'test.job.requested', payload: {} });
      await announce(sql, { type: 'test.thing.changed', payload: {} });
    });
    await eventually(() => expect(published).toEqual(['test.thing.changed']));
    hasQueue = true;
    await eventually(() => expect(published).toEqual(['test.thing.changed', 'test.job.requested']));
  });

  it('relays the rest at once, also behind more unroutable work than a batch holds', async () => {
    const published: unknown[] = [];
    let attempts = 0;
    startRelay(async (messages) => {
      attempts += 1;
      const work = messages.filter(({ type }) => type.endsWith('.requested'));
      published.push(...messages.filter((message) => !work.includes(message)).map(({ payload }) => payload.n));
      if (work.length > 0) throw new UnroutableError(work);
    });
    await withTransaction(pool, async (sql) => {
      for (let n = 0; n < 250; n += 1) await announce(sql, { type: 'test.job.requested', payload: {} });
    });
    for (let n = 0; n < 20; n += 1) {
      await withTransaction(pool, (sql) => announce(sql, { type: 'test.thing.changed', payload: { n } }));
      await eventually(() => expect(published).toHaveLength(n + 1));
    }
    expect(published).toEqual(Array.from({ length: 20 }, (_, n) => n));
    // The row is deleted a moment after the message is published.
    await eventually(async () => {
      const { rows } = await pool.query('select count(*)::int as count from outbox');
      expect(rows).toEqual([{ count: 250 }]);
    });
    expect(attempts).toBeLessThan(500);
  });

  it('goes on after the database ended its connections', async () => {
    const published = new Set<unknown>(); // a message arrives twice if its relay was cut off in between
    const relay = startRelay(async (messages) => {
      for (const { payload } of messages) published.add(payload.n);
    });
    const send = (n: number) =>
      withTransaction(pool, (sql) => announce(sql, { type: 'test.thing.changed', payload: { n } }));
    await send(1);
    await eventually(async () => expect((await relay.lag()).waiting).toBe(0));
    await pool
      .query('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()')
      .catch(() => {});
    await eventually(() => send(2));
    await eventually(() => expect([...published]).toEqual([1, 2]));
  });
});

describe('receiveOnce', () => {
  it('is true once per consumer and message, if the effect is committed', async () => {
    const id = randomUUID();
    const receive = (consumer: string, fail = false) =>
      withTransaction(pool, async (sql) => {
        const isFirst = await receiveOnce(sql, consumer, id);
        if (fail) throw new Error('no');
        return isFirst;
      });
    await expect(receive('one', true)).rejects.toThrow('no');
    const results = await Promise.all([receive('one'), receive('one'), receive('one')]);
    expect(results.toSorted()).toEqual([false, false, true]);
    await expect(receive('two')).resolves.toBe(true);
    await pool.query("update inbox set received_at = now() - interval '31 days' where consumer = 'one'");
    await sweepInbox(pgSql(pool), 30);
    await expect(receive('one')).resolves.toBe(true);
    await expect(receive('two')).resolves.toBe(false);
  });
});
