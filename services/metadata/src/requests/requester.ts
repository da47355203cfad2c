// Who requested work, and in which request. It is stored with the work, so that a process which
// resumes the work acts for the same caller.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';

export type Requester = { user_id: number | null; application_id: number | null; request_id: string | null };

/** The requester of a call, as it is stored. */
export const requesterOf = ({ userId, applicationId, requestId }: RpcCaller): Requester => ({
  user_id: userId ?? null,
  application_id: applicationId ?? null,
  request_id: requestId ?? null,
});

export const noRequester: Requester = { user_id: null, application_id: null, request_id: null };

/**
 * The caller for whom work is resumed. Unknown parts are left out: an earlier release stored less.
 */
export const callerFor = (accountId: number, { user_id, application_id, request_id }: Requester): RpcCaller => ({
  accountId,
  ...(user_id === null ? {} : { userId: user_id }),
  ...(application_id === null ? {} : { applicationId: application_id }),
  ...(request_id === null ? {} : { requestId: request_id }),
});
