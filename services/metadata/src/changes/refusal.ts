// Refusals and outcomes of applying a change.
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
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
    const { kind, errors, label, headers, cause } = error;
    throw new ServiceError(kind, errors, { label, headers, cause, facts: await findDiffs() });
  }
}

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
  if (status === 'failed') throw validationFailed((error ?? `${titleOf(noun)} failed`).split('\n'));
  if (status === transitions[apply]?.to)
    throw new ServiceError('unavailable', `${titleOf(noun)} ${id} is still being ${doing}; ask again.`);
}
