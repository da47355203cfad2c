// Who asked for work, and in which request. It is kept with the work, so that whoever takes it up later acts for them.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';

export type Asker = { user_id: number | null; application_id: number | null; request_id: string | null };

/** What is kept of whoever makes this call. */
export const askerOf = ({ userId, applicationId, requestId }: RpcCaller): Asker => ({
  user_id: userId ?? null,
  application_id: applicationId ?? null,
  request_id: requestId ?? null,
});

export const nobody: Asker = { user_id: null, application_id: null, request_id: null };

/** The caller as whom their work is taken up. What isn't known of them is left out: the release before kept less. */
export const callerFor = (accountId: number, { user_id, application_id, request_id }: Asker): RpcCaller => ({
  accountId,
  ...(user_id === null ? {} : { userId: user_id }),
  ...(application_id === null ? {} : { applicationId: application_id }),
  ...(request_id === null ? {} : { requestId: request_id }),
});
