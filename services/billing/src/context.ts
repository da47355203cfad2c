// What billing's functions work with.
import type { Logger } from '@almanac/service-kit/observability/logger';
import type pg from 'pg';
import type { PrismaClient } from './generated/prisma/client.ts';

export type BillingContext = {
  /** For the counters: single statements whose locks make counting exact. */
  pool: pg.Pool;
  /** For everything else. */
  prisma: PrismaClient;
  logger: Logger;
  leaseSeconds: number;
};
