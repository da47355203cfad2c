// One instant of several databases, on one PostgreSQL server or on many. A snapshot is valid for
// one database only, so each database gets its own; then all are checked. When no transaction has
// ended in between, every snapshot shows the moment of the last one. Otherwise all are taken again.
import { setTimeout as sleep } from 'node:timers/promises';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { OperatorError } from '../operator.ts';
import { connect, type Database } from './dump/connect.ts';

/**
 * A database as of the instant: `sql` reads in the snapshot, which other sessions can import by
 * name.
 */
export type HeldDatabase = Database & { snapshot: string; serverVersion: string; sql: Sql };

export type Instant = {
  /** By the databases' clock. */
  at: Date;
  databases: HeldDatabase[];
  /** True when the outboxes were quiet for a while, so no message was only on the bus. */
  isSettled: boolean;
  waitingMessages: number;
  release(): Promise<void>;
};

export type Patience = {
  /** The time without an announcement that counts as quiet. */
  quietMs: number;
  /** After this time an instant is accepted although the outboxes weren't quiet. */
  settleWithinMs: number;
  withinMs: number;
};

export const usualPatience: Patience = { quietMs: 2_000, settleWithinMs: 15_000, withinMs: 120_000 };

type Session = Database & { holder: pg.Client; watcher: pg.Client };

/** Holds all databases as of one instant until `release`. Writers don't wait. */
export async function holdInstant(databases: Database[], patience: Patience = usualPatience): Promise<Instant> {
  const clients: pg.Client[] = [];
  const release = async () => {
    await Promise.all(clients.map((client) => client.end()));
  };
  const open = async (database: Database) => {
    const client = await connect(database);
    clients.push(client);
    return client;
  };
  try {
    const sessions: Session[] = [];
    for (const database of databases)
      sessions.push({ ...database, holder: await open(database), watcher: await open(database) });
    return { ...(await findInstant(sessions, patience)), release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function findInstant(sessions: Session[], patience: Patience): Promise<Omit<Instant, 'release'>> {
  const begun = performance.now();
  const age = () => performance.now() - begun;
  let announced = '';
  let quietSince = begun;
  for (;;) {
    const looks = await Promise.all(sessions.map(hold));
    const after = await Promise.all(sessions.map(lookAgain));
    const sequences = after.map(({ sequence }) => sequence).join();
    if (sequences !== announced) quietSince = performance.now();
    announced = sequences;
    const waitingMessages = looks.reduce((sum, { waiting }) => sum + waiting, 0);
    const isSettled = waitingMessages === 0 && performance.now() - quietSince >= patience.quietMs;
    const isOne = looks.every(({ state }, i) => state === after[i]?.state);
    if (isOne && (isSettled || age() > patience.settleWithinMs)) {
      const held = sessions.map(({ name, url, holder }, i) => {
        const { snapshot, serverVersion } = looks[i] as Look;
        return { name, url, snapshot, serverVersion, sql: pgSql(holder) };
      });
      const at = new Date(Math.max(...looks.map((look) => look.at.getTime())));
      return { at, databases: held, isSettled, waitingMessages };
    }
    await Promise.all(sessions.map(({ holder }) => holder.query('rollback')));
    if (age() > patience.withinMs)
      throw new OperatorError(
        `In ${patience.withinMs / 1000} s there was no moment at which no transaction ended: take the backup when less is written, or from the storage.`,
      );
    await sleep(5 + Math.random() * 45);
  }
}

type Look = { snapshot: string; state: string; at: Date; waiting: number; serverVersion: string };

// The first statement takes the snapshot.
async function hold({ name, holder }: Session): Promise<Look> {
  try {
    await holder.query('begin isolation level repeatable read read only');
    const { rows } = await pgSql(holder)(
      `select pg_export_snapshot() as snapshot, pg_current_snapshot()::text as state, clock_timestamp() as at,
         (select count(*) from outbox)::int as waiting, current_setting('server_version') as "serverVersion"`,
    );
    return rows[0] as Look;
  } catch (error) {
    throw new OperatorError(`The database of ${name} can't be read: ${(error as Error).message}`);
  }
}

// Two statements: a sequence isn't part of the snapshot, and has to be read after it.
async function lookAgain({ watcher }: Session): Promise<{ state: string; sequence: string }> {
  const sql = pgSql(watcher);
  const [look] = (await sql('select pg_current_snapshot()::text as state')).rows;
  const [last] = (await sql("select coalesce(pg_sequence_last_value('outbox_id_seq'), 0)::text as sequence")).rows;
  return { ...look, ...last } as { state: string; sequence: string };
}
