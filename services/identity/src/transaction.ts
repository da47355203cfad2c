// Transactions of identity over Prisma, with the outbox, retries after deadlocks, and PostgreSQL's
// clock.

import { validationFailed } from '@almanac/service-kit/errors';
import { announce, announceAll } from '@almanac/service-kit/messaging/outbox';
import { prismaSql, retryTransaction, type Sql } from '@almanac/service-kit/postgres/database';
import { isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** A Prisma client, inside a transaction or not. */
export type Database = PrismaClient | Prisma.TransactionClient;

/** The parameters of the work of one transaction. */
export type Transaction = {
  db: Prisma.TransactionClient;
  sql: Sql;
  /** Announces an event if the transaction commits. */
  announce(type: string, payload: Record<string, unknown>, requestId?: string): Promise<void>;
  /** Announces several events of one type with one statement. */
  announceAll(type: string, payloads: Record<string, unknown>[], requestId?: string): Promise<void>;
};

/**
 * Prisma over the service's pool, which bounds the wait for a connection (Prisma's own limit is 2
 * s).
 */
export function createPrisma(pool: pg.Pool): PrismaClient {
  return new PrismaClient({
    adapter: new PrismaPg(pool),
    errorFormat: 'minimal', // other formats quote arguments: e-mail addresses, digests
    transactionOptions: { maxWait: 15_000, timeout: 20_000 },
  });
}

/**
 * Runs `work` in one transaction. A deadlock runs it again, so it has no effect outside the
 * database.
 */
export function transact<T>(prisma: PrismaClient, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return retryTransaction(() =>
    prisma.$transaction((db) => {
      const sql = prismaSql(db);
      return work({
        db,
        sql,
        announce: async (type, payload, requestId) => {
          await announce(sql, { type, payload, requestId });
        },
        announceAll: (type, payloads, requestId) =>
          announceAll(
            sql,
            payloads.map((payload) => ({ type, payload, requestId })),
          ),
      });
    }),
  );
}

/** Runs `work`; the violation of a unique index becomes a 422 with this problem. */
export async function mapUniqueViolation<T>(problem: Problem, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error)) throw validationFailed(problem);
    throw error;
  }
}

/** The time of PostgreSQL's clock, which all instances share; lifetimes are measured with it. */
export async function databaseNow(db: Database): Promise<Date> {
  const [row] = await db.$queryRaw<{ now: Date }[]>`select clock_timestamp() as now`;
  return (row as { now: Date }).now;
}

/** The time `seconds` later. */
export function addSeconds(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}
