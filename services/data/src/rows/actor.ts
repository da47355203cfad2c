// Who a write is attributed to: the user, or the application when no user stands behind the call.
import type { CallContext } from '@almanac/service-kit/call-context';

/** `user:7`, `application:3`; a service acting on its own goes by its name. */
export function actorOf(call: Pick<CallContext, 'userId' | 'applicationId' | 'issuer'>): string {
  if (call.userId !== undefined) return `user:${call.userId}`;
  if (call.applicationId !== undefined) return `application:${call.applicationId}`;
  return call.issuer;
}
