// Refusals and outcomes of applying a change.
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { type Machine, titleOf } from './approval-states.ts';

/**
 * Runs `apply`. A refusal that `needsDiffs` is thrown with the diffs as they are now, to be
 * reviewed.
 */
export async function refuseWithDiffs<T>(
  apply: () => Promise<T>,
  needsDiffs: (error: ServiceError) => boolean,
  findDiffs: () => Promise<Record<string, unknown>>,
): Promise<T> {
  try {
    return await apply();
  } catch (error) {
    if (!(error instanceof ServiceError) || !needsDiffs(error)) throw error;
    const { kind, problems, label, headers, cause } = error;
    throw new ServiceError(kind, problems, { label, headers, cause, facts: await findDiffs() });
  }
}

/**
 * The 422 of a change that could not be applied. Its reasons are stored as sentences, so the code
 * of each says only that it blocks the change; the blockers of the diffs say more.
 */
export const blockedBy = (reasons: string[]): ServiceError =>
  validationFailed(reasons.map((message): Problem => ({ code: 'blocked', message })));

type Outcome = { id: number; status: string; error: string | null };

/**
 * Throws 422 with the reasons when applying failed, 503 while it runs. `doing` is what then goes
 * on.
 */
export function requireSuccess(
  { noun, apply, transitions }: Machine,
  { id, status, error }: Outcome,
  doing: string,
): void {
  if (status === 'failed') throw blockedBy((error ?? `${titleOf(noun)} failed`).split('\n'));
  if (status === transitions[apply]?.to)
    throw new ServiceError('unavailable', `${titleOf(noun)} ${id} is still being ${doing}; ask again.`);
}
