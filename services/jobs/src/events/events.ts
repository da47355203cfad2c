// One page of the events that a caller may read.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from '../context.ts';
import type { AccountEvent, TypeFilter } from './account-event.ts';
import { keptDays } from './append-events.ts';
import { readAudience } from './audience.ts';
import { type EventPage, readEvents, readLogRange } from './read-events.ts';

/** Undefined `after`: from the oldest event that is kept. */
export type Reading = { after: number | undefined; types: TypeFilter; limit: number };

/**
 * The caller's events after `after`. A page may have fewer than `limit` events, or none, although
 * more wait: it ends where reading has ended.
 */
export async function listEvents(ctx: JobsContext, call: CallContext, reading: Reading) {
  const db = pgSql(ctx.pool);
  const after = await requireKept(db, call.accountId, reading.after);
  const page = await readOwnEvents(ctx, call, { ...reading, after });
  return { data: page.events, cursor: page.cursor, has_more: page.hasMore };
}

/** The events that the caller may read, whether the log still has all of them or not. */
export async function readOwnEvents(
  ctx: Pick<JobsContext, 'pool' | 'rights'>,
  call: CallContext,
  { after, types, limit }: Reading & { after: number },
): Promise<EventPage> {
  const db = pgSql(ctx.pool);
  const audience = await readAudience(ctx, call);
  const narrowed = audience.narrow(types);
  if (narrowed === undefined) {
    const { last } = await readLogRange(db, call.accountId);
    return { events: [], cursor: Math.max(after, last), hasMore: false };
  }
  const page = await readEvents(db, call.accountId, { after, types: narrowed, limit });
  return { ...page, events: page.events.filter((event: AccountEvent) => audience.mayRead(event)) };
}

/** Where to begin; throws 410 when events after `after` are no longer kept, or never were. */
export async function requireKept(db: Sql, accountId: number, after: number | undefined): Promise<number> {
  const { removedTo, last } = await readLogRange(db, accountId);
  if (after === undefined) return removedTo;
  if (after < removedTo)
    throw expired(`Events after ${after} were removed: they are kept for ${keptDays} days.`, removedTo);
  // An id that was never given: the log was restored from a backup.
  if (after > last) throw expired(`There is no event ${after}: the log ends at ${last}.`, last);
  return after;
}

function expired(reason: string, cursor: number): ServiceError {
  const message = `${reason} Read the present state, then go on without \`after\`, or after ${cursor}.`;
  return new ServiceError('expired', { code: 'cursor_expired', message, field: 'after', params: { after: cursor } });
}
