// The revisions of a change that users were shown. On a protected branch only a reviewed revision
// is applied, so that no change gets past the users who approve it (ADR 18).
import { createHash } from 'node:crypto';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import type { MetadataContext } from '../context.ts';
import type { Transaction } from '../transaction.ts';
import type { Machine } from './approval-states.ts';

/** A line for each definition: its id, and the versions that its diff was made of. */
export type Versions = [id: number, ...versions: (number | null)[]][];

/** The rows that would change: the id of each definition, and a name for the state of its rows. */
export type RowRevisions = [id: number, revision: string][];

/**
 * What diffs were made of: a hash of everything that they depend on, and the versions. `rows`:
 * where rows change too.
 */
export type Revision = { revision: string; facts: Versions; rows?: RowRevisions | undefined };

/** A short name for these facts; it changes whenever one of them does. */
export const revisionOf = (facts: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 22);

/** The revision as callers get it, and may insist on: it covers the rows. */
export const shownRevision = ({ revision, rows }: Revision): string =>
  rows === undefined ? revision : revisionOf([revision, rows]);

/** A revision that depends on nothing but the versions is stored as these. */
type StoredRevision = Versions | Revision;

const readRevision = (stored: StoredRevision): Revision =>
  Array.isArray(stored) ? { revision: revisionOf(stored), facts: stored } : stored;

/** `branch`: the one that changes. */
type Change = { id: number; branch: { is_protected: boolean } };

/**
 * Records the revision that the caller is shown, on a protected branch or when it covers rows. A
 * failure is only logged: without the record the caller is shown the diffs once more before they
 * can apply them.
 */
export async function recordReviewed(
  ctx: MetadataContext,
  { userId }: CallContext,
  { noun }: Pick<Machine, 'noun'>,
  { id, branch }: Change,
  revision: StoredRevision,
): Promise<void> {
  const hasRows = readRevision(revision).rows !== undefined;
  if (userId === undefined || (!branch.is_protected && !hasRows)) return;
  try {
    await prismaSql(ctx.prisma)(
      `insert into ${noun}_showing as s (${noun}_id, user_id, versions) values ($1::int, $2::int, $3::jsonb)
       on conflict (${noun}_id, user_id) do update set versions = excluded.versions where s.versions <> excluded.versions`,
      [id, userId, JSON.stringify(revision)],
    );
  } catch (error) {
    ctx.logger.warn({ err: error, [`${noun}_id`]: id }, `the revision of a ${noun} that a user saw was not recorded`);
  }
}

/** Thrown when a user would apply what they have not been shown. */
export class NotReviewed extends ServiceError {
  constructor({ apply }: Pick<Machine, 'apply'>, reasons: string[]) {
    super(
      'wrong_state',
      [...reasons, `Look at the diffs as they are now, then ${apply} them.`].map(
        (message): Problem => ({ code: 'not_reviewed', message }),
      ),
    );
  }
}

/**
 * Throws unless the definitions, which are locked, have the revision that may be applied. With
 * `seen`, the revision that the caller insists on, rows included. Without it, on a protected branch
 * and for any user but the creator: the revision that they were shown last, or else the one that
 * was `proposed` or that approval was requested for (null: none was recorded, so any may be
 * applied).
 */
export async function requireReviewed(
  tx: Transaction,
  { userId }: CallContext,
  { noun, apply }: Pick<Machine, 'noun' | 'apply'>,
  change: Change & { created_by: number | null },
  { proposed, now, names }: { proposed: StoredRevision | null; now: StoredRevision; names: Map<number, string> },
  seen: string | undefined,
): Promise<void> {
  const isOwn = change.created_by === (userId ?? null);
  if (seen === undefined && (isOwn || !change.branch.is_protected)) return;
  const stored = (await findReviewed(tx, noun, change.id, userId)) ?? proposed;
  if (seen === undefined && !stored) return;
  const reviewed = stored ? readRevision(stored) : undefined;
  const present = readRevision(now);
  if (seen === undefined ? present.revision === reviewed?.revision : shownRevision(present) === seen) return;
  const versions = new Map(reviewed?.facts.map(([id, ...of]) => [id, JSON.stringify(of)]));
  const changed = present.facts.filter(([id, ...of]) => versions.has(id) && versions.get(id) !== JSON.stringify(of));
  const reasons = [
    ...changed.map(([id]) => `${names.get(id)} has changed since the diffs were shown`),
    ...(seen === undefined ? [] : otherRows(reviewed?.rows, present.rows).map((id) => rowsChanged(names.get(id)))),
  ];
  throw new NotReviewed({ apply }, reasons.length > 0 ? reasons : ['The diffs are not those that were shown']);
}

/** A sentence about a table of which other rows were shown than would change now. */
export const rowsChanged = (name: string | undefined): string =>
  `${name}: the rows that would change are not those that were shown`;

function otherRows(shown: RowRevisions | undefined, now: RowRevisions | undefined): number[] {
  if (!shown || !now) return [];
  const [before, after] = [new Map(shown), new Map(now)];
  return [...new Set([...before.keys(), ...after.keys()])].filter((id) => before.get(id) !== after.get(id));
}

async function findReviewed(
  tx: Transaction,
  noun: Machine['noun'],
  id: number,
  userId = 0,
): Promise<StoredRevision | undefined> {
  const text = `select versions from ${noun}_showing where ${noun}_id = $1::int and user_id = $2::int`;
  const { rows } = await prismaSql(tx)(text, [id, userId]);
  return rows[0]?.versions as StoredRevision | undefined;
}
