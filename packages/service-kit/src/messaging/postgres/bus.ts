// The bus on PostgreSQL, for a system on one machine: pg-boss keeps the queues, LISTEN/NOTIFY wakes
// the consumers and delivers to subscribers. All services share one database for it (schema `bus`).

import type pg from 'pg';
import { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { InterruptibleSleep } from '../../interruptible-sleep.ts';
import { createPool, pgSql, type Sql, withTransaction } from '../../postgres/database.ts';
import { DatabaseListener } from '../../postgres/listener.ts';
import type { Bus } from '../bus/bus.ts';
import {
  type BusMessage,
  type BusOptions,
  type ConsumeOptions,
  type Handler,
  isWork,
  publishTimeoutMs,
  resync,
  type SubscribeOptions,
  settleWithin,
  stopTimeoutMs,
  subscriberPlace,
  UnreadableMessageError,
  UnroutableError,
} from '../bus/message.ts';
import { type HandlerOf, type Payloads, parseJson, readMessage, typeOf } from '../bus/received-message.ts';
import { QueueConsumer } from './consumer.ts';
import { exclusively, largeMessageTable, schema } from './schema.ts';

const channel = 'almanac_bus';
const firstConnectMs = 5_000;
// PostgreSQL takes notifications of up to 8,000 bytes.
const largestNotification = 7_900;

type Subscription = { payloads: Payloads; handler: Handler; options: SubscribeOptions };

export function createPostgresBus(url: string, options: BusOptions): Bus {
  return new PostgresBus(url, options);
}

class PostgresBus implements Bus {
  private readonly logger: Logger;
  private readonly onUnreadable: BusOptions['onUnreadable'];
  private readonly pool: pg.Pool;
  private readonly listener: DatabaseListener;
  private readonly consumers: QueueConsumer[] = [];
  private readonly subscriptions: Subscription[] = [];
  private readonly handling = new Set<Promise<void>>();
  private readonly pause = new InterruptibleSleep();
  private boss: PgBoss | undefined;
  private connecting: Promise<void> | undefined;
  private connections = 0;
  private stopping = false;
  private loggedAt = 0;

  constructor(url: string, { service, instance, logger, onUnreadable }: BusOptions) {
    this.logger = logger;
    this.onUnreadable = onUnreadable;
    const name = `${service}-bus-${instance}`.slice(0, 63);
    this.pool = createPool({ url, name, max: 4, queryTimeoutMs: publishTimeoutMs, logger });
    this.listener = new DatabaseListener({
      url,
      name,
      channel,
      logger,
      onNotify: (payload) => this.receive(payload),
      onConnected: () => this.catchUp(),
    });
  }

  async start(): Promise<void> {
    this.connecting ??= this.connect();
    await settleWithin([this.connecting], firstConnectMs);
  }

  async publish(messages: BusMessage[]): Promise<void> {
    const { boss } = this;
    // An event that is published before this service's queues exist would miss them.
    if (!boss || !this.consumers.every(({ isPrepared }) => isPrepared)) throw new Error('The bus is not ready yet.');
    const unroutable = await withTransaction(this.pool, async (sql, client) => {
      const routes = await findRoutes(sql, messages);
      const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
      for (const [queue, routed] of routes) {
        // The message id is the job's id, so a message that is published twice becomes one job.
        const jobs = routed.map((message) => ({ id: message.id, data: { message, attempt: 1 } }));
        await boss.insert(queue, jobs, { db, returnId: false });
      }
      await this.notify(sql, messages);
      const taken = new Set([...routes.values()].flat());
      return messages.filter((message) => isWork(message.type) && !taken.has(message));
    });
    if (unroutable.length > 0) throw new UnroutableError(unroutable);
  }

  async consume<P extends Payloads>(
    queue: string,
    payloads: P,
    handle: HandlerOf<P>,
    options: ConsumeOptions = {},
  ): Promise<void> {
    const handler = handle as unknown as Handler; // it gets only messages that these payloads have checked
    const { pool, logger, onUnreadable } = this;
    const consumer = new QueueConsumer({ queue, payloads, handler, ...options, pool, logger, onUnreadable });
    this.consumers.push(consumer);
    if (!this.boss) return; // begins when the database answers
    consumer.start(this.boss);
    await settleWithin([consumer.prepared], firstConnectMs);
  }

  async subscribe<P extends Payloads>(
    payloads: P,
    handle: HandlerOf<P>,
    options: SubscribeOptions = {},
  ): Promise<void> {
    const handler = handle as unknown as Handler;
    const subscription = { payloads, handler, options };
    this.subscriptions.push(subscription);
    if (this.listener.isListening) await this.resync(subscription);
  }

  queues(): string[] {
    return this.consumers.map(({ queue }) => queue);
  }

  async deadLetters(queue: string): Promise<number> {
    const { rows } = await pgSql(this.pool)(
      `select count(*) as count from ${schema}.job where name = $1 and state < 'active'`,
      [`${queue}.dead`],
    );
    return rows[0]?.count as number;
  }

  async redeliver(queue: string): Promise<number> {
    const { boss } = this;
    if (!boss) throw new Error('The bus is not ready yet.');
    const count = await withTransaction(this.pool, async (sql, client) => {
      const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
      const dead = `${queue}.dead`;
      const { rows } = await sql(
        `select id::text, data -> 'message' as message from ${schema}.job where name = $1 and state < 'active'
         for update skip locked`,
        [dead],
      );
      if (rows.length === 0) return 0;
      const jobs = rows.map(({ message }) => ({ data: { message, attempt: 1 } }));
      await boss.insert(queue, jobs, { db, returnId: false });
      const ids = rows.map(({ id }) => id as string);
      await boss.deleteJob(dead, ids, { db });
      return ids.length;
    });
    for (const consumer of this.consumers) if (consumer.queue === queue) consumer.wake();
    return count;
  }

  isReady(): boolean {
    return this.boss !== undefined && this.listener.isListening && this.consumers.every(({ isPrepared }) => isPrepared);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.pause.end();
    const consumers = this.consumers.map((consumer) => consumer.stop(stopTimeoutMs));
    await this.connecting;
    await this.listener.stop();
    await Promise.all([...consumers, settleWithin(this.handling, stopTimeoutMs)]);
    await this.boss?.stop({ graceful: false });
    if (!this.pool.ended && !this.pool.ending) await this.pool.end();
  }

  private async connect(): Promise<void> {
    for (let failures = 0; !this.stopping; failures += 1) {
      const boss = this.createBoss();
      try {
        await exclusively(this.pool, async () => {
          await boss.start();
          await pgSql(this.pool)(largeMessageTable);
        });
        this.boss = boss;
        this.listener.start();
        for (const consumer of this.consumers) consumer.start(boss);
        return;
      } catch (error) {
        await boss.stop({ graceful: false }).catch(() => {});
        if (failures === 0) this.logger.warn({ err: error }, 'the bus waits for its database');
        await this.pause.wait(Math.min(100 * 2 ** failures, 2_000));
      }
    }
  }

  // Everything periodic is slow or off, seven services do it beside each other: what matters in
  // time is woken by NOTIFY. The supervisor finds, within seconds, messages whose consumer died.
  private createBoss(): PgBoss {
    const boss = new PgBoss({
      db: { executeSql: (text, values) => this.pool.query(text, values) },
      schema,
      schedule: false,
      superviseIntervalSeconds: 10,
      monitorIntervalSeconds: 10,
      flowIntervalSeconds: 3_600,
      monitorVacuum: false,
    });
    boss.on('error', (error) => this.logSometimes(error));
    boss.on('warning', (warning) => this.logger.warn({ warning }, 'pg-boss warns'));
    return boss;
  }

  // While the database is away, each periodic part of pg-boss reports it each time.
  private logSometimes(error: Error): void {
    if (this.stopping || Date.now() - this.loggedAt < 10_000) return;
    this.loggedAt = Date.now();
    this.logger.warn({ err: error }, 'the bus can not use its database');
  }

  private async notify(sql: Sql, messages: BusMessage[]): Promise<void> {
    const payloads: string[] = [];
    const large: BusMessage[] = [];
    for (const message of messages) {
      const payload = JSON.stringify(message);
      const fits = Buffer.byteLength(payload) <= largestNotification;
      payloads.push(fits ? payload : JSON.stringify({ ref: message.id, type: message.type }));
      if (!fits) large.push(message);
    }
    if (large.length > 0) {
      await sql(`delete from ${schema}.large_message where created_at < now() - interval '1 hour'`);
      await sql(
        `insert into ${schema}.large_message (id, message)
         select (value ->> 'id')::uuid, value from jsonb_array_elements($1::jsonb) on conflict do nothing`,
        [JSON.stringify(large)],
      );
    }
    await sql(`select pg_notify('${channel}', payload) from unnest($1::text[]) as payload`, [payloads]);
  }

  private receive(payload: string): void {
    const run = this.deliver(payload).catch((error) => {
      if (error instanceof UnreadableMessageError) this.onUnreadable?.(subscriberPlace);
      this.logger.error({ err: error }, 'a subscriber failed');
    });
    this.handling.add(run);
    run.finally(() => this.handling.delete(run));
  }

  private async deliver(payload: string): Promise<void> {
    const received = parseJson(payload);
    const type = typeOf(received);
    if (type === undefined) throw new UnreadableMessageError('It is no message of the bus.');
    for (const consumer of this.consumers) if (consumer.takes(type)) consumer.wake();
    const concerned = this.subscriptions.filter(({ payloads }) => Object.hasOwn(payloads, type));
    if (concerned.length === 0 || this.stopping) return;
    const { ref } = received as { ref?: unknown };
    const content = typeof ref === 'string' ? parseJson(await this.readLarge(ref)) : received;
    for (const { payloads, handler } of concerned) {
      const message = readMessage(payloads, content);
      if (message) await handler(message);
    }
  }

  private async readLarge(id: string): Promise<string> {
    const text = `select message::text from ${schema}.large_message where id = $1`;
    const { rows } = await pgSql(this.pool)(text, [id]);
    return (rows[0]?.message as string) ?? '';
  }

  private catchUp(): void {
    this.connections += 1;
    for (const consumer of this.consumers) consumer.wake();
    for (const subscription of this.subscriptions) void this.resync(subscription);
  }

  private resync(subscription: Subscription): Promise<void> {
    const connection = this.connections;
    const isCurrent = () => !this.stopping && this.connections === connection;
    return resync(subscription.options, isCurrent, this.logger);
  }
}

async function findRoutes(sql: Sql, messages: BusMessage[]): Promise<Map<string, BusMessage[]>> {
  const types = [...new Set(messages.map(({ type }) => type))];
  const { rows } = await sql(`select name, event from ${schema}.subscription where event = any($1::text[])`, [types]);
  const routes = new Map<string, BusMessage[]>();
  for (const { name, event } of rows) {
    const routed = messages.filter(({ type }) => type === event);
    routes.set(name, [...(routes.get(name) ?? []), ...routed]);
  }
  return routes;
}
