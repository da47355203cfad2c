// One instant of several databases, on one PostgreSQL server or on many. PostgreSQL shares a snapshot among sessions of one database
// only, so each gets a snapshot of its own, and then all are looked at again: where no transaction has ended since, every snapshot
// also shows the moment at which the last one was taken. Otherwise they are let go and taken anew.
import { setTimeout as sleep } from 'node:timers/promises';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import pg from 'pg';
import { quietName } from '../../../../services/data/src/postgres/pools.ts';
import { OperatorError } from '../operator.ts';
import type { Database } from './places.ts';

/** A database as of the instant: `sql` reads in the snapshot, and other sessions can take it up by its name. */
export type HeldDatabase = Database & { snapshot: string; serverVersion: string; sql: Sql };

export type Instant = {
  /** By the clock of the databases. */
  at: Date;
  databases: HeldDatabase[];
  /** Messages that were in no outbox any more may still have been on the bus; not when nothing was announced for a while. */
  isSettled: boolean;
  waitingMessages: number;
  release(): Promise<void>;
};

export type Patience = {
  /** How long nothing should have been announced. */
  quietMs: number;
  /** After so long an instant is good although something was announced just before. */
  settleWithinMs: number;
  withinMs: number;
};

export const usualPatience: Patience = { quietMs: 2_000, settleWithinMs: 15_000, withinMs: 120_000 };

type Session = Database & { holder: pg.Client; watcher: pg.Client };

/** Holds all databases as of one instant until `release`. Writers wait for nothing. */
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

async function connect({ name, url }: Database): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    // Reads only: marks of incremental exports need not wait for it (services/data/src/postgres/high-water-mark.ts).
    application_name: quietName,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 0,
    idle_in_transaction_session_timeout: 0,
    keepAlive: true,
  });
  client.on('error', () => {}); // the statement that needs it tells
  try {
    await client.connect();
  } catch (error) {
    throw new OperatorError(`The database of ${name} can't be reached: ${(error as Error).message}`);
  }
  return client;
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

// Two statements: what the sequence gives is not of the snapshot, and is to be read after it.
async function lookAgain({ watcher }: Session): Promise<{ state: string; sequence: string }> {
  const sql = pgSql(watcher);
  const [look] = (await sql('select pg_current_snapshot()::text as state')).rows;
  const [last] = (await sql("select coalesce(pg_sequence_last_value('outbox_id_seq'), 0)::text as sequence")).rows;
  return { ...look, ...last } as { state: string; sequence: string };
}
