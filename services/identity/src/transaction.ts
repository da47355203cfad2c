// Transactions of identity over Prisma, with retries after deadlocks, its announcements, and
// PostgreSQL's clock.

import { validationFailed } from '@almanac/service-kit/errors';
import { announcementsOf } from '@almanac/service-kit/messaging/announcements';
import { retryTransaction } from '@almanac/service-kit/postgres/database';
import { isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** A Prisma client, inside a transaction or not. */
export type Database = PrismaClient | Prisma.TransactionClient;

export type Transaction = Prisma.TransactionClient;

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
export function transact<T>(ctx: { prisma: PrismaClient }, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return retryTransaction(() => ctx.prisma.$transaction(work));
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

export const { announce, announceAll } = announcementsOf('identity');
