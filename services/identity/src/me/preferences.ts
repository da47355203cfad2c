// Preferences: a JSON object that programs keep for a user, such as the state of their screens.
// Identity stores it as it was written and looks at nothing in it.
import { parseJson } from '@almanac/service-kit/api/json-body';
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import { unknownUser } from '@almanac/service-kit/rights/rights';
import type { IdentityContext } from '../context.ts';

export type Preferences = Record<string, unknown>;

/** The user's preferences; empty until some are stored. */
export async function findPreferences(ctx: IdentityContext, accountId: number, userId: number): Promise<Preferences> {
  const [row] = await ctx.prisma.$queryRaw<{ text: string }[]>`
    select preferences::text as text from user_preference where user_id = ${userId} and account_id = ${accountId}`;
  // Parsed like a body, so numbers that no double holds stay as they were written.
  return row ? (parseJson(Buffer.from(row.text), 'The preferences') as Preferences) : {};
}

/** The caller's preferences. */
export async function getPreferences(ctx: IdentityContext, call: CallContext) {
  return { preferences: await findPreferences(ctx, call.accountId, requireUser(call)) };
}

/** Replaces the caller's preferences as a whole. */
export async function putPreferences(ctx: IdentityContext, call: CallContext, preferences: Preferences) {
  const userId = requireUser(call);
  // The join refuses a user who was deleted in between.
  const stored = await ctx.prisma.$executeRaw`
    insert into user_preference (user_id, account_id, preferences, updated_at)
    select id, account_id, ${JSON.stringify(preferences)}::json, now() from "user"
    where id = ${userId} and account_id = ${call.accountId}
    on conflict (user_id) do update set preferences = excluded.preferences, updated_at = excluded.updated_at`;
  if (stored === 0) throw unknownUser();
  return { preferences };
}
