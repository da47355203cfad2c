// What every transport of the bus has to do. Run against PostgreSQL by postgres/bus.slow.test.ts,
// and against a real RabbitMQ by tests/deploy/bus-amqp.real.test.ts.
import { randomUUID } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import { startTcpProxy, type TcpProxy } from '@almanac/testkit/network/tcp-proxy';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import { pino } from 'pino';
import { z } from 'zod';
import { createPool, withTransaction } from '../postgres/database.ts';
import type { Bus, BusMessage } from './bus/bus.ts';
import { UnreadableMessageError, UnroutableError } from './bus/message.ts';
import { samePayload } from './bus/received-message.ts';
import { createBus } from './create-bus.ts';
import { announce, createOutboxRelay } from './outbox.ts';

const logger = pino({ level: process.env.ALMANAC_TEST_LOG_LEVEL ?? 'silent' });

/** Puts a text as it is into a queue, and before those who listen. */
type SendRaw = (queue: string, type: string, text: string) => Promise<void>;

/** Declares the tests; `url` is asked for when they run. */
export function describeBus(transport: string, url: () => string, sendRaw: SendRaw): void {
  describe(`bus on ${transport}`, () => {
    const buses: Bus[] = [];
    let proxies: TcpProxy[] = [];
    let type = '';
    let queue = '';

    // Other tests use the same broker: every test has names of its own.
    beforeEach(() => {
      const unique = randomUUID().slice(0, 8);
      type = `test_${unique}.thing.changed`;
      queue = `test_${unique}.things`;
    });

    afterEach(async () => {
      for (const proxy of proxies) if (!proxy.isOpen()) await proxy.restore();
      await Promise.all(buses.splice(0).map((bus) => bus.stop()));
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      proxies = [];
    });

    async function startBus(busUrl = url(), onUnreadable?: (place: string) => void): Promise<Bus> {
      const bus = await createBus(busUrl, { service: 'test', instance: String(buses.length), logger, onUnreadable });
      buses.push(bus);
      await bus.start();
      return bus;
    }

    async function startProxy(): Promise<TcpProxy> {
      const proxy = await startTcpProxy(url());
      proxies.push(proxy);
      return proxy;
    }

    function messages(count: number, ofType = type): BusMessage[] {
      const occurred_at = new Date().toISOString();
      return Array.from({ length: count }, (_, n) => ({
        v: 1,
        id: randomUUID(),
        type: ofType,
        occurred_at,
        payload: { n },
      }));
    }

    it('delivers to every queue that wants the type, and once among the instances of a consumer', async () => {
      const [publisher, one, two] = [await startBus(), await startBus(), await startBus()];
      const seen: Record<string, number[]> = { first: [], second: [] };
      const note = (name: string) => async (message: BusMessage) => {
        seen[name]?.push(message.payload.n as number);
      };
      await one.consume(`${queue}.first`, anything(type), note('first'), { concurrency: 3 });
      await two.consume(`${queue}.first`, anything(type), note('first'), { concurrency: 3 });
      await two.consume(`${queue}.second`, anything(type, `${type}.not`), note('second'), { concurrency: 3 });
      await publisher.publish([...messages(40), ...messages(3, `${type}.other`)]);
      const all = Array.from({ length: 40 }, (_, n) => n);
      await eventually(() => {
        expect(seen.first?.toSorted(byNumber)).toEqual(all);
        expect(seen.second?.toSorted(byNumber)).toEqual(all);
      });
    });

    it('carries a message unchanged, also a large one', async () => {
      const bus = await startBus();
      await eventually(() => expect(bus.isReady()).toBe(true));
      const [message] = messages(1) as [BusMessage];
      message.request_id = 'req-1';
      message.payload = { text: 'ä\'"\\\n'.repeat(4_000), nested: { list: [1, null, true] } };
      const seen: BusMessage[] = [];
      const heard: BusMessage[] = [];
      await bus.consume(queue, anything(type), async (m) => void seen.push(m));
      await bus.subscribe(anything(type), (m) => void heard.push(m));
      await bus.publish([message]);
      await eventually(() => expect([seen, heard]).toEqual([[message], [message]]));
    });

    it('tries a failing message again, then gives it up, while others go on', async () => {
      const bus = await startBus();
      const tries: number[] = [];
      const done: number[] = [];
      const handle = async ({ payload }: BusMessage) => {
        tries.push(payload.n as number);
        if (payload.n === 1 || (payload.n === 2 && tries.filter((n) => n === 2).length < 3)) throw new Error('not now');
        done.push(payload.n as number);
      };
      await bus.consume(queue, anything(type), handle, { attempts: 3 });
      await bus.publish(messages(6));
      await eventually(() => expect(done.toSorted(byNumber)).toEqual([0, 2, 3, 4, 5]));
      await eventually(async () => expect(await bus.deadLetters(queue)).toBe(1));
      expect(tries.filter((n) => n === 1)).toHaveLength(3);
      // Those without trouble did not wait for the pauses of the failing ones, which are six
      // seconds.
      expect(done.slice(0, 4).toSorted(byNumber)).toEqual([0, 3, 4, 5]);
    });

    it('puts what was given up back into its queue when it is asked to, to be tried as often as before', async () => {
      const bus = await startBus();
      const done: number[] = [];
      let isMended = false;
      let tries = 0;
      const handle = async ({ payload }: BusMessage) => {
        tries += 1;
        if (!isMended) throw new UnreadableMessageError('what is this?');
        if (tries === 3) throw new Error('not now');
        done.push(payload.n as number);
      };
      await bus.consume(queue, anything(type), handle, { attempts: 2 });
      expect([bus.queues(), await bus.redeliver(queue)]).toEqual([[queue], 0]);
      await bus.publish(messages(2));
      await eventually(async () => expect(await bus.deadLetters(queue)).toBe(2));
      isMended = true;
      expect(await bus.redeliver(queue)).toBe(2);
      await eventually(() => expect(done.toSorted(byNumber)).toEqual([0, 1]));
      expect(await bus.deadLetters(queue)).toBe(0);
    });

    it('gives up at once what its handler will never understand', async () => {
      const bus = await startBus();
      const tries: number[] = [];
      await bus.consume(queue, anything(type), async ({ payload }) => {
        tries.push(payload.n as number);
        if (payload.n === 0) throw new UnreadableMessageError('what is this?');
      });
      await bus.publish(messages(1));
      await eventually(async () => expect(await bus.deadLetters(queue)).toBe(1));
      await bus.publish(messages(2).slice(1));
      await eventually(() => expect(tries).toEqual([0, 1]));
    });

    it('gives up at once what is no message, or not one of its type, and goes on', async () => {
      const unreadable: string[] = [];
      const bus = await startBus(url(), (place) => unreadable.push(place));
      const seen: unknown[] = [];
      const heard: unknown[] = [];
      await bus.consume(queue, { [type]: numbered }, async ({ payload }) => void seen.push(payload));
      await bus.subscribe({ [type]: numbered }, async ({ payload }) => void heard.push(payload));
      await eventually(() => expect(bus.isReady()).toBe(true));
      const bad = badTexts(messages(1)[0] as BusMessage);
      for (const text of bad) await sendRaw(queue, type, text);
      const [newer] = messages(1, `${type}.newer`) as [BusMessage];
      await sendRaw(queue, type, JSON.stringify(newer));
      await bus.publish([{ ...messages(1)[0], more: 1, payload: { n: 7, more: 1 } } as unknown as BusMessage]);
      await eventually(() => expect([seen, heard]).toEqual([[{ n: 7 }], [{ n: 7 }]]));
      await eventually(async () => expect(await bus.deadLetters(queue)).toBe(bad.length));
      expect(unreadable.filter((place) => place === queue)).toHaveLength(bad.length);
      expect(unreadable).toContain('subscriber');
    });

    it('lets every instance hear what it subscribed to', async () => {
      const [one, two] = [await startBus(), await startBus()];
      const heard: string[] = [];
      let connected = 0;
      const options = {
        onConnected: () => {
          connected += 1;
        },
      };
      await one.subscribe(anything(type), () => void heard.push('one'), options);
      await two.subscribe(anything(type), () => void heard.push('two'), options);
      await eventually(() => expect(connected).toBe(2));
      await two.publish(messages(2));
      await eventually(() => expect(heard.toSorted()).toEqual(['one', 'one', 'two', 'two']));
    });

    it('drops events without a consumer, but never work', async () => {
      const bus = await startBus();
      const work = messages(1, `${type}.requested`);
      await expect(bus.publish(messages(1))).resolves.toBeUndefined();
      await expect(bus.publish([...messages(1), ...work])).rejects.toThrow(UnroutableError);
      const seen: string[] = [];
      await bus.consume(queue, anything(`${type}.requested`), async ({ id }) => void seen.push(id));
      await bus.publish(work);
      await eventually(() => expect(seen).toEqual(work.map(({ id }) => id)));
    });

    it('reconnects after the broker was away', async () => {
      const proxy = await startProxy();
      await proxy.cut();
      const bus = await startBus(proxy.urlOf(url()));
      expect(bus.isReady()).toBe(false);
      await expect(bus.publish(messages(1))).rejects.toThrow();
      const seen: string[] = [];
      let connected = 0;
      await bus.consume(queue, anything(type), async ({ id }) => void seen.push(id));
      const onConnected = () => {
        connected += 1;
      };
      await bus.subscribe(anything(type), ({ id }) => void seen.push(id), { onConnected });
      for (const round of [1, 2]) {
        await proxy.restore();
        await eventually(() => expect([bus.isReady(), connected]).toEqual([true, round]));
        const [message] = messages(1) as [BusMessage];
        await eventually(() => bus.publish([message]));
        await eventually(() => expect(seen.filter((id) => id === message.id).length).toBeGreaterThanOrEqual(2));
        await proxy.cut();
        await eventually(() => expect(bus.isReady()).toBe(false));
      }
    });

    it('loses nothing that was announced while the broker was away', async () => {
      const database = await createTestDatabase('outbox');
      const pool = createPool({ url: database.url, name: 'outbox', logger });
      await pool.query(outboxTable);
      const proxy = await startProxy();
      const consumer = await startBus();
      const seen = new Set<unknown>();
      await consumer.consume(queue, anything(type), async ({ payload }) => void seen.add(payload.n), {
        concurrency: 4,
      });
      const relay = createOutboxRelay({ pool, bus: await startBus(proxy.urlOf(url())), logger });
      relay.start();
      const announceSome = (from: number) =>
        Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            withTransaction(pool, (sql) => announce(sql, { type, payload: { n: from + n }, requestId: 'r' })),
          ),
        );
      await announceSome(0);
      await eventually(() => expect(seen.size).toBe(20));
      await eventually(async () => expect((await relay.lag()).waiting).toBe(0)); // else they are carried again
      await proxy.cut();
      await announceSome(20);
      await eventually(async () => expect((await relay.lag()).waiting).toBe(20));
      await proxy.restore();
      await announceSome(40);
      await eventually(() => expect(seen.size).toBe(60));
      await eventually(async () => expect((await relay.lag()).waiting).toBe(0));
      await relay.stop();
      await pool.end();
      await database.drop();
    });

    it('waits for the running handler when it stops, and leaves the rest to others', async () => {
      const bus = await startBus();
      const order: string[] = [];
      let letGo = () => {};
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      await bus.consume(queue, anything(type), async () => {
        order.push('begun');
        await held;
        order.push('ended');
      });
      await bus.publish(messages(2));
      await eventually(() => expect(order).toEqual(['begun']));
      const stopped = bus.stop().then(() => order.push('stopped'));
      letGo();
      await stopped;
      expect(order).toEqual(['begun', 'ended', 'stopped']);
      const other = await startBus();
      const seen: unknown[] = [];
      await other.consume(queue, anything(type), async ({ payload }) => void seen.push(payload.n));
      await eventually(() => expect(seen).toEqual([1]));
    });

    it('gives a message to another instance when its consumer dies', async () => {
      const proxy = await startProxy();
      const dying = await startBus(proxy.urlOf(url()));
      let letGo = () => {};
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      let begun = 0;
      await dying.consume(queue, anything(type), async () => {
        begun += 1;
        await held;
      });
      const other = await startBus();
      await other.publish(messages(1));
      await eventually(() => expect(begun).toBe(1));
      await proxy.cut();
      const seen: unknown[] = [];
      await other.consume(queue, anything(type), async ({ payload }) => void seen.push(payload.n));
      await eventually(() => expect(seen).toEqual([0]));
      letGo();
    });
  });
}

const anything = (...types: string[]) => samePayload(types, z.looseObject({}));

const numbered = z.object({ n: z.int() });

function badTexts(good: BusMessage): string[] {
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  const changes: Record<string, unknown>[] = [
    ...[null, [], 'text', 5, {}, { n: null }, { n: '1' }, { n: [1] }, { n: 1.5 }].map((payload) => ({ payload })),
    { payload: { n: 1, nested: nested(1_000) } },
    { payload: { n: 1, text: 'x'.repeat(9_000_000) } },
    ...[null, 5, 'text', {}].map((id) => ({ id })),
    ...[null, 5, [], {}].map((type) => ({ type })),
    ...[null, 5, 'yesterday'].map((occurred_at) => ({ occurred_at })),
    { request_id: {} },
    { v: 2 },
  ];
  return [
    ...['null', 'true', '5', '"text"', '[]', '[null]', '{}', 'no JSON', '', '{"type":', `${'['.repeat(5_000)}`],
    ...changes.map((change) => JSON.stringify({ ...good, ...change })),
  ];
}

const outboxTable = `
  create table outbox (
    id bigserial primary key, message_id uuid not null unique, type text not null, payload jsonb not null,
    request_id text, occurred_at timestamptz(3) not null default now()
  )`;

function byNumber(a: number, b: number): number {
  return a - b;
}
