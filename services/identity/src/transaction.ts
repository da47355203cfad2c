// Transactions of identity over Prisma: tried again on deadlocks, with the outbox at hand and PostgreSQL's clock.

import { announce, announceAll } from '@almanac/service-kit/messaging/outbox';
import { prismaSql, retryTransaction, type Sql } from '@almanac/service-kit/postgres/database';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** A Prisma client, inside a transaction or not. */
export type Database = PrismaClient | Prisma.TransactionClient;

/** What one transaction of identity is given. */
export type Transaction = {
  db: Prisma.TransactionClient;
  sql: Sql;
  /** Announces an event if the transaction commits. */
  announce(type: string, payload: Record<string, unknown>, requestId?: string): Promise<void>;
  /** Announces several events of one type with one statement. */
  announceAll(type: string, payloads: Record<string, unknown>[], requestId?: string): Promise<void>;
};

/** Prisma over our own pool. Waiting for a connection is bounded by the pool, not by Prisma's two seconds. */
export function createPrisma(pool: pg.Pool): PrismaClient {
  return new PrismaClient({
    adapter: new PrismaPg(pool),
    errorFormat: 'minimal', // the others quote what was asked for: addresses, digests
    transactionOptions: { maxWait: 15_000, timeout: 20_000 },
  });
}

/** Runs `work` in one transaction. It may run again after a deadlock, so it must have no other effect. */
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

/** The time by PostgreSQL's clock, which all instances share: lifetimes of codes, tokens and sessions go by it. */
export async function databaseNow(db: Database): Promise<Date> {
  const [row] = await db.$queryRaw<{ now: Date }[]>`select clock_timestamp() as now`;
  return (row as { now: Date }).now;
}

/** `seconds` after a time. */
export function after(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}
