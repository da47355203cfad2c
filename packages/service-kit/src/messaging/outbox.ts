// The outbox: announcements are written in the transaction that made them true, and relayed to the
// bus afterwards, at least once; in order within a batch, as instances relay side by side.
//
// Every service database has this table:
//
//   model outbox {
//     id          BigInt   @id @default(autoincrement())
//     message_id  String   @unique @db.Uuid
//     type        String
//     payload     Json
//     request_id  String?
//     occurred_at DateTime @default(now()) @db.Timestamptz(3)
//   }
//
//   create table outbox (
//     id bigserial primary key, message_id uuid not null unique, type text not null,
//     payload jsonb not null, request_id text, occurred_at timestamptz(3) not null default now()
//   );
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import { InterruptibleSleep } from '../interruptible-sleep.ts';
import { tracing } from '../observability/tracing/tracing.ts';
import { pgSql, type Sql, withTransaction } from '../postgres/database.ts';
import { DatabaseListener } from '../postgres/listener.ts';
import type { Bus } from './bus/bus.ts';
import { type BusMessage, UnroutableError } from './bus/message.ts';
import { sweepInbox } from './inbox.ts';
import { UnroutableBackoff } from './unroutable-backoff.ts';

const channel = 'almanac_outbox';
const batchSize = 100;
const pollMs = 1_000;
// For messages that another relay had locked when it died.
const pollWhileListeningMs = 30_000;
const maxDelayMs = 10_000;
const sweepEveryMs = 3_600_000;
// The table has no column for the trace context: it waits in this member of the payload, and
// receivers get it beside the payload.
const traceMember = '_traceparent';

type Announcement = { type: string; payload: Record<string, unknown>; requestId?: string; id?: string };

/**
 * Announces an event or requests work in the caller's transaction. Returns the message id. The
 * commit wakes the relay.
 */
export async function announce(sql: Sql, announcement: Announcement): Promise<string> {
  const { id = randomUUID() } = announcement;
  await announceAll(sql, [{ ...announcement, id }]);
  return id;
}

/** Announces several messages in their order, with one statement. */
export async function announceAll(sql: Sql, announcements: Announcement[]): Promise<void> {
  if (announcements.length === 0) return;
  const traceparent = tracing?.here()?.traceparent;
  const messages = announcements.map(({ type, payload, requestId, id = randomUUID() }) => ({
    message_id: id,
    type,
    payload: traceparent ? { ...payload, [traceMember]: traceparent } : payload,
    request_id: requestId,
  }));
  await sql(
    `with written as (
       insert into outbox (message_id, type, payload, request_id)
       select message_id, type, payload, request_id
       from jsonb_to_recordset($1::jsonb) as message (message_id uuid, type text, payload jsonb, request_id text)
       returning id
     )
     select pg_notify('${channel}', '')::text from (select from written limit 1) once`,
    [JSON.stringify(messages)],
  );
}

type RelayOptions = { pool: pg.Pool; bus: Pick<Bus, 'publish'>; logger: Logger; inboxDays?: number };

/** Relays the outbox of one database to the bus. Each instance of a service runs one. */
export type OutboxRelay = {
  start(): void;
  /** Stops after the current batch; the rest waits for the next start. */
  stop(): Promise<void>;
  /** Reads the outbox now. Not needed after `announce`, whose commit does it. */
  wake(): void;
  /** The number of waiting messages, and the age of the oldest. */
  lag(): Promise<{ waiting: number; oldestSeconds: number }>;
};

export function createOutboxRelay(options: RelayOptions): OutboxRelay {
  return new Relay(options);
}

class Relay implements OutboxRelay {
  private readonly options: RelayOptions;
  private readonly listener: DatabaseListener;
  private readonly idle = new InterruptibleSleep();
  private readonly backoff = new InterruptibleSleep();
  private readonly unroutable = new UnroutableBackoff(maxDelayMs);
  private stopping = false;
  private sweptAt = 0;
  private running: Promise<void> | undefined;

  constructor(options: RelayOptions) {
    const { connectionString = '', application_name = '' } = options.pool.options;
    this.options = options;
    this.listener = new DatabaseListener({
      url: connectionString,
      name: `${application_name}-outbox`,
      channel,
      logger: options.logger,
      onNotify: () => this.wake(),
      onConnected: () => this.wake(),
    });
  }

  start(): void {
    this.listener.start();
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.wake();
    this.backoff.end();
    await Promise.all([this.running, this.listener.stop()]);
  }

  wake(): void {
    this.idle.end();
  }

  async lag(): Promise<{ waiting: number; oldestSeconds: number }> {
    const { rows } = await pgSql(this.options.pool)(
      `select count(*) as waiting, coalesce(extract(epoch from now() - min(occurred_at)), 0)::float8 as "oldestSeconds"
       from outbox`,
    );
    return rows[0] as { waiting: number; oldestSeconds: number };
  }

  private async run(): Promise<void> {
    const { logger } = this.options;
    let failures = 0;
    while (!this.stopping) {
      try {
        const full = await this.relayBatch();
        if (failures > 0) logger.info({ failures }, 'relaying the outbox to the bus again');
        failures = 0;
        await this.sweep();
        if (!full) {
          const pause = this.listener.isListening ? pollWhileListeningMs : pollMs;
          await this.idle.wait(this.unroutable.nextWithin(pause));
        }
      } catch (error) {
        failures += 1;
        if (failures === 1) logger.warn({ err: error }, 'could not relay the outbox to the bus; trying again');
        await this.backoff.wait(Math.min(100 * 2 ** failures, maxDelayMs));
      }
    }
  }

  // The rows stay locked until the bus has stored them, so other instances take other rows. When a
  // relay dies, its locks end; messages that it had published are published again under the same
  // id.
  private async relayBatch(): Promise<boolean> {
    let relayed: string[] = [];
    let unroutable: UnroutableError | undefined;
    const count = await withTransaction(
      this.options.pool,
      async (sql) => {
        const { rows } = await sql(
          `select id::text, message_id, type, payload, request_id, occurred_at from outbox
           where message_id <> all($1::uuid[])
           order by outbox.id limit ${batchSize} for update skip locked`,
          [this.unroutable.deferredIds],
        );
        if (rows.length === 0) return 0;
        unroutable = await this.publish(rows.map(toMessage));
        const kept = new Set(unroutable?.ids);
        const done = rows.filter((row) => !kept.has(row.message_id));
        await sql('delete from outbox where id = any($1::bigint[])', [done.map((row) => row.id)]);
        relayed = done.map((row) => row.message_id);
        return rows.length;
      },
      { attempts: 1 },
    );
    if (this.unroutable.record(relayed, unroutable?.ids ?? [], count < batchSize))
      this.options.logger.warn({ err: unroutable }, 'work waits in the outbox: no queue takes it yet');
    return count === batchSize;
  }

  private async publish(messages: BusMessage[]): Promise<UnroutableError | undefined> {
    try {
      await this.options.bus.publish(messages);
      return undefined;
    } catch (error) {
      if (error instanceof UnroutableError) return error;
      throw error;
    }
  }

  private async sweep(): Promise<void> {
    if (Date.now() - this.sweptAt < sweepEveryMs) return;
    await sweepInbox(pgSql(this.options.pool), this.options.inboxDays ?? 30);
    this.sweptAt = Date.now();
  }
}

function toMessage(row: Record<string, unknown>): BusMessage {
  const message: BusMessage = {
    v: 1,
    id: row.message_id as string,
    type: row.type as string,
    occurred_at: (row.occurred_at as Date).toISOString(),
    payload: row.payload as Record<string, unknown>,
  };
  if (typeof row.request_id === 'string') message.request_id = row.request_id;
  const { [traceMember]: traceparent, ...payload } = message.payload;
  if (typeof traceparent === 'string') Object.assign(message, { payload, traceparent });
  return message;
}
