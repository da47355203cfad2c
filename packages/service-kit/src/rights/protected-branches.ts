// On a protected branch, administrators alone may remove or restore deployed tables (ADR 23).
import { type CallContext, hasScope } from '../caller/call-context.ts';
import { ServiceError } from '../errors.ts';
import { allows, type Rights } from './rights.ts';

/** True for a user with `admin` on the branch or account, uncached, and for scope `api:admin`. */
export async function administersBranch(rights: Rights, call: CallContext, branchId: number): Promise<boolean> {
  if (call.userId === undefined) return hasScope(call, 'api:admin');
  return allows(await rights.get(call, { fresh: true }), 'admin', { branchId });
}

/** The 403 of other callers. `act` completes "may …". */
export function needsBranchAdministrator({ userId }: CallContext, act: string): ServiceError {
  const who =
    userId === undefined
      ? 'an application with the scope api:admin, or an administrator,'
      : 'an administrator of the branch or the account';
  return new ServiceError('forbidden', {
    code: 'missing_right',
    message: `Only ${who} may ${act} on a protected branch.`,
  });
}
