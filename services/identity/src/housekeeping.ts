// Deletes expired codes, token families, sessions, links, revocations, signing keys, stored answers
// and counters. Every instance does it; deleting twice has no effect.
import { sweepAnswers } from '@almanac/service-kit/caller/idempotency';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { Part } from '@almanac/service-kit/process/part';
import { periodic } from '@almanac/service-kit/process/periodic';
import type { IdentityConfig } from './config.ts';
import type { PrismaClient } from './generated/prisma/client.ts';

/** Runs a round at start and every ten minutes. */
export function createHousekeeping(prisma: PrismaClient, config: IdentityConfig, logger: Logger): Part {
  return periodic({ name: 'housekeeping', everyMs: 10 * 60_000, logger }, () => sweep(prisma, config));
}

/** Runs one round. A used code is kept as long as its family, so that a replay is detected. */
export async function sweep(
  prisma: PrismaClient,
  { accessTokenSeconds, grantSeconds }: Pick<IdentityConfig, 'accessTokenSeconds' | 'grantSeconds'>,
): Promise<void> {
  // The last access token of a family can outlive it, and can be revoked only through the family's
  // row.
  await prisma.$executeRaw`
    delete from token_family
    where least(expires_at, coalesce(ends_at, created_at + make_interval(secs => ${grantSeconds}::int)))
      < now() - make_interval(secs => ${accessTokenSeconds}::int)`;
  await prisma.$executeRaw`
    delete from authorization_code c
    where c.expires_at < now() and not exists (select from token_family f where f.id = c.family_id)`;
  await prisma.$executeRaw`delete from session where expires_at < now()`;
  await prisma.$executeRaw`delete from password_link where expires_at < now()`;
  await prisma.$executeRaw`delete from revocation where expires_at < now()`;
  await prisma.$executeRaw`
    delete from signing_key where retired_at < now() - make_interval(secs => ${accessTokenSeconds + 86_400}::int)`;
  await prisma.$executeRaw`delete from rate_limit where expire < extract(epoch from now()) * 1000 - 3600000`;
  await sweepAnswers(prismaSql(prisma));
}
