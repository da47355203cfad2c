// What people have seen of a deployment or promotion. On a protected branch nothing else is put into effect, so that nobody gets a
// change past the eyes of those who approve (ADR 18).
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { MetadataContext } from '../context.ts';
import type { Transaction } from '../transaction.ts';
import { revisionOf } from './revision.ts';

/** A line for each definition: its id, and the versions that its diff was made of. */
export type Facts = [id: number, ...versions: (number | null)[]][];

/** What diffs were made of, and its short name. */
export type Shown = { revision: string; facts: Facts };

/** The facts alone are kept where the revision is of nothing else. */
type Kept = Facts | Shown;

const named = (kept: Kept): Shown => (Array.isArray(kept) ? { revision: revisionOf(kept), facts: kept } : kept);

const verbs = { deployment: 'deploy', promotion: 'promote' } as const;

/** `branch`: the one that changes. */
type Change = { noun: keyof typeof verbs; id: number; branch: { is_protected: boolean } };

/** Notes what the caller is shown, where it matters. If that can't be noted he is shown it again when he acts on it, so the answer goes on. */
export async function recordReviewed(
  ctx: MetadataContext,
  { userId }: CallContext,
  { noun, id, branch }: Change,
  shown: Kept,
): Promise<void> {
  if (userId === undefined || !branch.is_protected) return;
  try {
    await prismaSql(ctx.prisma)(
      `insert into ${noun}_showing as s (${noun}_id, user_id, versions) values ($1::int, $2::int, $3::jsonb)
       on conflict (${noun}_id, user_id) do update set versions = excluded.versions where s.versions <> excluded.versions`,
      [id, userId, JSON.stringify(shown)],
    );
  } catch (error) {
    ctx.logger.warn({ err: error, [`${noun}_id`]: id }, `whom a ${noun} was shown to could not be noted`);
  }
}

/** Thrown when somebody would put into effect what he hasn't seen. */
export class NotReviewed extends ServiceError {
  constructor(sentences: string[]) {
    super('wrong_state', sentences);
  }
}

/**
 * Throws unless the definitions as they are now, locked, are what may be put into effect: those of the revision that the caller
 * insists on (`seen`); without one, on a protected branch, for who didn't propose it himself, those that he was shown last, or, if
 * none were, those that approval was asked for or that were proposed (`asked`; null: that was not noted, so anything may be).
 */
export async function requireReviewed(
  tx: Transaction,
  { userId }: CallContext,
  change: Change & { created_by: number | null },
  { asked, now, names }: { asked: Kept | null; now: Kept; names: Map<number, string> },
  seen: string | undefined,
): Promise<void> {
  const isOwn = change.created_by === (userId ?? null);
  if (seen === undefined && (isOwn || !change.branch.is_protected)) return;
  const kept = (await findShown(tx, change, userId)) ?? asked;
  if (seen === undefined && !kept) return;
  const [then, present] = [kept ? named(kept) : undefined, named(now)];
  if (present.revision === (seen ?? then?.revision)) return;
  const versions = new Map(then?.facts.map(([id, ...of]) => [id, JSON.stringify(of)]));
  const changed = present.facts.filter(([id, ...of]) => versions.has(id) && versions.get(id) !== JSON.stringify(of));
  const reasons = changed.map(([id]) => `${names.get(id)} has changed since the diffs were shown`);
  throw new NotReviewed([
    ...(reasons.length > 0 ? reasons : ['The diffs are not those that were shown']),
    `Look at the diffs as they are now, then ${verbs[change.noun]} them.`,
  ]);
}

async function findShown(tx: Transaction, { noun, id }: Change, userId = 0): Promise<Kept | undefined> {
  const text = `select versions from ${noun}_showing where ${noun}_id = $1::int and user_id = $2::int`;
  const { rows } = await prismaSql(tx)(text, [id, userId]);
  return rows[0]?.versions as Kept | undefined;
}
